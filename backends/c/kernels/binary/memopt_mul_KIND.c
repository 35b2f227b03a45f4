/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 * s16   int16_t
 */
/* MUL of KIND. Rows and steps: see memopt_binary.h; shift as memopt_requantize takes it. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift;
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_mul_KIND_params;

KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p,
                memopt_clamp(memopt_requantize((x - p->a_zero_point) * (y - p->b_zero_point),
                                               p->multiplier, p->shift) +
                                 p->output_zero_point,
                             p->act_min, p->act_max));
}
