/* MatMulInteger, int8 and uint8: sums of products of the integers themselves, modulo 2**32. */
#include "memopt_common.h"

typedef struct {
  int32_t batches, rows_n, depth, columns;
  int32_t a_batch, a_row, a_depth;    /* elements of the left operand to the next along each */
  int32_t b_batch, b_depth, b_column; /* of the right one */
  int32_t a_sign, b_sign;             /* 128 for int8, 0 for uint8 */
} memopt_batch_matmul_i32_params;

MEMOPT_FAST
KERNEL {
  int32_t *output = (int32_t *)out;
  int32_t batch, row, column, k;
  (void)rows;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    for (row = 0; row < p->rows_n; ++row) {
      for (column = 0; column < p->columns; ++column) {
        const uint8_t *x = (const uint8_t *)in[0] + batch * p->a_batch + row * p->a_row;
        const uint8_t *y = (const uint8_t *)in[1] + batch * p->b_batch + column * p->b_column;
        uint32_t sum = 0;
        for (k = 0; k < p->depth; ++k) {
          sum += (uint32_t)(((*x ^ p->a_sign) - p->a_sign) * ((*y ^ p->b_sign) - p->b_sign));
          x += p->a_depth;
          y += p->b_depth;
        }
        *output++ = (int32_t)sum;
      }
    }
  }
}
