#include "memopt_quantize_f32_s8.h"

#include <math.h>

MEMOPT_KERNEL void memopt_quantize_f32_s8(const memopt_quantize_f32_s8_params *p,
                                          const memopt_rows *rows, const float *input,
                                          int8_t *output) {
  const int32_t even = p->ties_even;
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const float ratio = input[i] / p->scale;
      const float steps = even ? rintf(ratio) : roundf(ratio);
      /* Clamped before the conversion, which is undefined for what an int32 cannot hold. */
      const int32_t value = (int32_t)memopt_clamp_f32(steps, -1024.0f, 1024.0f) + p->zero_point;
      output[i] = (int8_t)memopt_clamp(value, -128, 127);
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
