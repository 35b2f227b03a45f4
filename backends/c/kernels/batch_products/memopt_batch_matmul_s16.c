/* BATCH_MATMUL, int16: sums in 64 bits, rounded once. */
#include "memopt_batch_matmul.h"
#include "memopt_wide_sum_s16.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
  int32_t multiplier, shift; /* as memopt_wide_steps takes them */
} memopt_batch_matmul_s16_params;

MEMOPT_FAST
KERNEL {
  MEMOPT_BATCH_MATMUL(int16_t, int64_t, p, *x * *y,
                      (int16_t)memopt_wide_steps(sum, p->multiplier, p->shift));
}
