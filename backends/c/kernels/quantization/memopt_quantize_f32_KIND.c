/* KIND  TYPE     LEAST  MOST
 * s8    int8_t   -128   127
 * u8    uint8_t  0      255
 */
/* QUANTIZE, float32 to KIND. */
#include "memopt_quantize_f32.h"

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
  int32_t ties_even; /* 1 as onnxruntime does, 0 as TensorFlow Lite */
} memopt_quantize_f32_KIND_params;

KERNEL {
  const int32_t even = p->ties_even;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    TYPE *output = (TYPE *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = (TYPE)memopt_quantized(input[i], p->scale, p->zero_point, even, LEAST, MOST);
    }
  }
}
