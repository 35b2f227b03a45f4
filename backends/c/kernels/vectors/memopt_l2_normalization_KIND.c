/* KIND  TYPE     LEAST  MOST  VALUE
 * s8    int8_t   -128   127   memopt_requantize_wide(x, multiplier, shift + 7)
 * u8    uint8_t  0      255   memopt_requantize_wide(128 * x, multiplier, shift) + 128
 */
/* L2_NORMALIZATION over the last axis, KIND to the scale 1/128 and a zero point in the middle. A row
 * is one vector (int8: TensorFlow Lite Micro, reference/integer_ops/l2normalization.h; uint8:
 * LiteRT, reference/l2normalization.h).
 */
#include "memopt_fixed_point.h"

typedef struct {
  int32_t depth;
  int32_t input_zero_point;
} memopt_l2_normalization_KIND_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    TYPE *output = (TYPE *)memopt_out_row(rows, out, row);
    int32_t sum = 0;
    int32_t i, multiplier, shift;
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      sum += x * x;
    }
    multiplier = memopt_inverse_root(sum, &shift);
    for (i = 0; i < p->depth; ++i) {
      const int32_t x = input[i] - p->input_zero_point;
      const int32_t made = VALUE;
      output[i] = (TYPE)memopt_clamp(made, LEAST, MOST);
    }
  }
}
