/* BATCH_MATMUL, float32. */
#include "memopt_batch_matmul.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
} memopt_batch_matmul_f32_params;

MEMOPT_FAST
KERNEL {
  MEMOPT_BATCH_MATMUL(float, float, p, *x * *y, sum);
}
