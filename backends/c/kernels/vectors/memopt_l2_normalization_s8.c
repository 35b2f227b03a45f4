/* L2_NORMALIZATION over the last axis, int8 -> int8 (scale 1/128, zero point 0). A row is one vector
 * (TensorFlow Lite Micro, reference/integer_ops/l2normalization.h).
 */
#include "memopt_fixed_point.h"

typedef struct {
  int32_t depth;
  int32_t input_zero_point;
} memopt_l2_normalization_s8_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = (const int8_t *)memopt_in_row(rows, in, 0, row);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    int32_t sum = 0;
    int32_t i, multiplier, shift;
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      sum += x * x;
    }
    multiplier = memopt_inverse_root(sum, &shift);
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      output[i] = (int8_t)memopt_clamp(memopt_requantize_wide(x, multiplier, shift + 7), -128, 127);
    }
  }
}
