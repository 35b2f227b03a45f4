/* KIND  TYPE     LEAST  MOST  SATURATED
 * s8    int8_t   -128   127   memopt_saturate_s8(steps)
 * u8    uint8_t  0      255   memopt_clamp(steps, 0, 255)
 */
/* QUANTIZE, float32 to KIND. */
#include "memopt_quantize_f32.h"

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
  int32_t ties_even; /* 1 as onnxruntime does, 0 as TensorFlow Lite */
} memopt_quantize_f32_KIND_params;

static inline TYPE quantize_even_KIND(float value, float scale, int32_t zero_point) {
  const int32_t steps = memopt_round_even(value / scale) + zero_point;
  return (TYPE)(SATURATED);
}

MEMOPT_FAST
KERNEL(scratch) {
  const float scale = p->scale; /* no store can change it */
  const int32_t zero_point = p->zero_point;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    TYPE *output = (TYPE *)memopt_out_row(rows, out, row);
    int32_t n = p->row_n;
    for (; n >= 4 && p->ties_even; n -= 4) {
      output[0] = quantize_even_KIND(input[0], scale, zero_point);
      output[1] = quantize_even_KIND(input[1], scale, zero_point);
      output[2] = quantize_even_KIND(input[2], scale, zero_point);
      output[3] = quantize_even_KIND(input[3], scale, zero_point);
      input += 4;
      output += 4;
    }
    for (; n > 0; --n) {
      *output++ = (TYPE)memopt_quantized(*input++, scale, zero_point, p->ties_even, LEAST, MOST);
    }
  }
}
