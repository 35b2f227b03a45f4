/* L2_NORMALIZATION over the last axis, uint8 -> uint8 (scale 1/128, zero point 128). A row is one
 * vector (LiteRT, reference/l2normalization.h).
 */
#include "memopt_fixed_point.h"

typedef struct {
  int32_t depth;
  int32_t input_zero_point;
} memopt_l2_normalization_u8_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *input = (const uint8_t *)memopt_in_row(rows, in, 0, row);
    uint8_t *output = (uint8_t *)memopt_out_row(rows, out, row);
    int32_t sum = 0;
    int32_t i, multiplier, shift;
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      sum += x * x;
    }
    multiplier = memopt_inverse_root(sum, &shift);
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      const int32_t made = memopt_requantize_wide(128 * x, multiplier, shift) + 128;
      output[i] = (uint8_t)memopt_clamp(made, 0, 255);
    }
  }
}
