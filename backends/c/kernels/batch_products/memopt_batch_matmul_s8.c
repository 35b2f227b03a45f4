/* BATCH_MATMUL, int8. */
#include "memopt_common.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift; /* as memopt_requantize takes them */
} memopt_batch_matmul_s8_params;

MEMOPT_FAST
MEMOPT_KERNEL void memopt_batch_matmul_s8(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_batch_matmul_s8_params *p = params;
  const int8_t *const a = in[0];
  const int8_t *const b = in[1];
  int8_t *output = out;
  int32_t batch, row, column, k;
  (void)rows;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    for (row = 0; row < p->rows_n; ++row) {
      for (column = 0; column < p->columns; ++column) {
        const int8_t *x = a + batch * p->a_batch + row * p->a_row;
        const int8_t *y = b + batch * p->b_batch + column * p->b_column;
        int32_t sum = 0;
        for (k = 0; k < p->depth; ++k) {
          sum += (*x - p->a_zero_point) * (*y - p->b_zero_point);
          x += p->a_depth;
          y += p->b_depth;
        }
        *output++ = (int8_t)memopt_clamp(
            memopt_requantize(sum, p->multiplier, p->shift) + p->output_zero_point, -128, 127);
      }
    }
  }
}
