/* BATCH_MATMUL, float32. */
#include "memopt_common.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
} memopt_batch_matmul_f32_params;

MEMOPT_FAST
MEMOPT_KERNEL void memopt_batch_matmul_f32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_batch_matmul_f32_params *p = params;
  const float *const a = in[0];
  const float *const b = in[1];
  float *output = out;
  int32_t batch, row, column, k;
  (void)rows;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    for (row = 0; row < p->rows_n; ++row) {
      for (column = 0; column < p->columns; ++column) {
        const float *x = a + batch * p->a_batch + row * p->a_row;
        const float *y = b + batch * p->b_batch + column * p->b_column;
        float sum = 0;
        for (k = 0; k < p->depth; ++k) {
          sum += *x * *y;
          x += p->a_depth;
          y += p->b_depth;
        }
        *output++ = sum;
      }
    }
  }
}
