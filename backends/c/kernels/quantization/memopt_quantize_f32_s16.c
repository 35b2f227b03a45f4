/* QUANTIZE, float32 to int16. */
#include "memopt_quantize_f32.h"

#include <string.h>

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
  int32_t ties_even; /* 1 as onnxruntime does, 0 as TensorFlow Lite */
} memopt_quantize_f32_s16_params;

KERNEL {
  const int32_t even = p->ties_even;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    int16_t *output = (int16_t *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int16_t value =
          (int16_t)memopt_quantized(input[i], p->scale, p->zero_point, even, -32768, 32767);
      memcpy(output + i, &value, sizeof value); /* `output` may be `input`, of another type */
    }
  }
}
