/* QUANTIZE, int16 to int16 of another scale (TensorFlow Lite, reference/requantize.h). */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* see memopt_requantize */
} memopt_requantize_s16_s16_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_requantize_s16_s16(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_requantize_s16_s16_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int16_t *input = memopt_in_row(rows, in, 0, row);
    int16_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int32_t value = input[i] - p->input_zero_point;
      const int32_t steps =
          memopt_requantize(value, p->multiplier, p->shift) + p->output_zero_point;
      output[i] = (int16_t)memopt_clamp(steps, -32768, 32767);
    }
  }
}
