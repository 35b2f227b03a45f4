/* BATCH_MATMUL, int16: sums in 64 bits, rounded once. */
#include "memopt_common.h"
#include "memopt_wide_sum_s16.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
  int32_t multiplier, shift; /* as memopt_wide_steps takes them */
} memopt_batch_matmul_s16_params;

MEMOPT_FAST
MEMOPT_KERNEL void memopt_batch_matmul_s16(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_batch_matmul_s16_params *p = params;
  const int16_t *const a = in[0];
  const int16_t *const b = in[1];
  int16_t *output = out;
  int32_t batch, row, column, k;
  (void)rows;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    for (row = 0; row < p->rows_n; ++row) {
      for (column = 0; column < p->columns; ++column) {
        const int16_t *x = a + batch * p->a_batch + row * p->a_row;
        const int16_t *y = b + batch * p->b_batch + column * p->b_column;
        int64_t sum = 0;
        for (k = 0; k < p->depth; ++k) {
          sum += *x * *y;
          x += p->a_depth;
          y += p->b_depth;
        }
        *output++ = (int16_t)memopt_wide_steps(sum, p->multiplier, p->shift);
      }
    }
  }
}
