/* BATCH_MATMUL, int8. */
#include "memopt_batch_matmul.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift; /* as memopt_requantize takes them */
} memopt_batch_matmul_s8_params;

MEMOPT_FAST
KERNEL {
  MEMOPT_BATCH_MATMUL(int8_t, int32_t, p, (*x - p->a_zero_point) * (*y - p->b_zero_point),
                      (int8_t)memopt_clamp(memopt_requantize(sum, p->multiplier, p->shift) +
                                               p->output_zero_point,
                                           -128, 127));
}
