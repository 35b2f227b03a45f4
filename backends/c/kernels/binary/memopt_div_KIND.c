/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 */
/* DIV of KIND. Rows and steps: see memopt_binary.h. */
#include "memopt_div.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift; /* at most 23 to the left */
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_div_KIND_params;

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, MEMOPT_STORED_QUOTIENT(p, x, y));
}
