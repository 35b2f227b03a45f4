/* SUB, int8: as memopt_add_s8.c, but for the sign of the right operand, which is scaled and rounded
 * before (TensorFlow Lite, reference/sub.h: SubElementwise). */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier, output_multiplier;
  int32_t a_shift, b_shift, output_shift; /* never positive */
  int32_t act_min, act_max;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_sub_s8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_sub_s8(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_sub_s8_params *p = (const memopt_sub_s8_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int8_t, p, MEMOPT_STORED_SUM(p, MEMOPT_SCALED(p, a, x) - MEMOPT_SCALED(p, b, y)));
}
