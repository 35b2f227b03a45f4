/* SQUARED_DIFFERENCE, int16: the common scale has no more bits. */
#include "memopt_squared_difference.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier;
  int32_t a_shift, b_shift;         /* never positive */
  int32_t multiplier, shift;        /* of the square; as memopt_requantize takes them */
  int32_t a_step, b_step;           /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step;   /* as in memopt_add_s8.c */
} memopt_squared_difference_s16_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_squared_difference_s16(const void *params, const memopt_rows *rows,
                                                const void *const *in, void *out, void *scratch) {
  const memopt_squared_difference_s16_params *p =
      (const memopt_squared_difference_s16_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int16_t, p, memopt_clamp(MEMOPT_STORED_SQUARE(p, x, y), -32768, 32767));
}
