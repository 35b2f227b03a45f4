/* QUANTIZE, float32 to int8. */
#include "memopt_quantize_f32.h"

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
  int32_t ties_even; /* 1 as onnxruntime does, 0 as TensorFlow Lite */
} memopt_quantize_f32_s8_params;

MEMOPT_KERNEL void memopt_quantize_f32_s8(const void *params, const memopt_rows *rows,
                                          const void *const *in, void *out, void *scratch) {
  const memopt_quantize_f32_s8_params *p = (const memopt_quantize_f32_s8_params *)params;
  const int32_t even = p->ties_even;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = (int8_t)memopt_quantized(input[i], p->scale, p->zero_point, even, -128, 127);
    }
  }
}
