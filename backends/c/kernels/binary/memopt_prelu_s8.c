/* PRELU, int8. */
#include "memopt_prelu.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t above_multiplier, above_shift; /* as memopt_requantize takes them */
  int32_t below_multiplier, below_shift;
  int32_t act_min, act_max;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_prelu_s8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_prelu_s8(const void *params, const memopt_rows *rows,
                                   const void *const *in, void *out, void *scratch) {
  const memopt_prelu_s8_params *p = (const memopt_prelu_s8_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int8_t, p, MEMOPT_PRELU(p, x, y));
}
