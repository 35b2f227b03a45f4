/* DIV, int8. Rows and steps as in memopt_add_s8.c. */
#include "memopt_div.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift; /* at most 23 to the left */
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_div_s8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_div_s8(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_div_s8_params *p = (const memopt_div_s8_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int8_t, p, MEMOPT_STORED_QUOTIENT(p, x, y));
}
