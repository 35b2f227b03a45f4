/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 */
/* PRELU of KIND. */
#include "memopt_prelu.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t above_multiplier, above_shift; /* as memopt_requantize takes them */
  int32_t below_multiplier, below_shift;
  int32_t act_min, act_max;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_prelu_KIND_params;

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, MEMOPT_PRELU(p, x, y));
}
