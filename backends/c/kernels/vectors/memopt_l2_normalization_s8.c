/* L2_NORMALIZATION over the last axis, int8 -> int8 (scale 1/128, zero point 0). A row is one vector
 * (TensorFlow Lite Micro, reference/integer_ops/l2normalization.h).
 */
#include "memopt_fixed_point.h"

typedef struct {
  int32_t depth;
  int32_t input_zero_point;
} memopt_l2_normalization_s8_params;

/* 1 / sqrt(value) as a multiplier with its shift: five steps of Newton's method, of numbers with 3
 * bits before the point. */
static int32_t inverse_root(int32_t value, int32_t *shift) {
  int32_t x = (int32_t)1 << 28;
  int32_t half, i;
  *shift = 0;
  if (value <= 1) {
    return INT32_MAX;
  }
  *shift = 11;
  while (value >= (int32_t)1 << 29) {
    value /= 4;
    ++*shift;
  }
  while (value < (int32_t)1 << 27) { /* to 28 or 29 bits */
    value *= 4;
    --*shift;
  }
  half = ((value >> 1) + 1) >> 1;
  for (i = 0; i < 5; ++i) {
    const int32_t cube = memopt_scale_up(memopt_high_mul(memopt_high_mul(x, x), x), 6);
    x = memopt_scale_up(memopt_high_mul(((int32_t)1 << 28) + ((int32_t)1 << 27), x) -
                            memopt_high_mul(half, cube),
                        3);
  }
  x = memopt_high_mul(x, 1518500250); /* sqrt(1 / 2) */
  if (*shift < 0) {
    x = memopt_shift_left(x, -*shift);
    *shift = 0;
  }
  *shift = -*shift;
  return x;
}

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_l2_normalization_s8(const void *params, const memopt_rows *rows,
                                              const void *const *in, void *out, void *scratch) {
  const memopt_l2_normalization_s8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = memopt_in_row(rows, in, 0, row);
    int8_t *output = memopt_out_row(rows, out, row);
    int32_t sum = 0;
    int32_t i, multiplier, shift;
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      sum += x * x;
    }
    multiplier = inverse_root(sum, &shift);
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      output[i] = (int8_t)memopt_clamp(memopt_requantize_wide(x, multiplier, shift + 7), -128, 127);
    }
  }
}
