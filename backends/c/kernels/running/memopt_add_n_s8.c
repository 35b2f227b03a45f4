/* ADD_N, int8, of one quantization, up to 15 operands. */
#include "memopt_add_n.h"
#include "memopt_fine_sum.h"

typedef struct {
  int32_t operands;
  int32_t row_n;
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* of 2^19 times the sum, to the right */
} memopt_add_n_s8_params;

KERNEL {
  MEMOPT_ADD_N(int8_t, int32_t, -p->input_zero_point /* the stored 0 */, p,
               x - p->input_zero_point, MEMOPT_FINE_SUM(p, total));
}
