/* CUMSUM, int8, of up to 15 numbers: [rows][count][inner], along the second. */
#include "memopt_cumulative_sum.h"
#include "memopt_fine_sum.h"

typedef struct {
  int32_t count, inner;
  int32_t exclusive; /* without the element itself */
  int32_t reverse;   /* from the other end */
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* of 2^19 times the sum, to the right */
} memopt_cumulative_sum_s8_params;

KERNEL {
  MEMOPT_CUMULATIVE_SUM(int8_t, int32_t, -p->input_zero_point /* the stored 0 */, p,
                        x - p->input_zero_point, MEMOPT_FINE_SUM(p, total));
}
