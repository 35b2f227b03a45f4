#include "memopt_dequantize_s8_f32.h"

MEMOPT_KERNEL void memopt_dequantize_s8_f32(const memopt_dequantize_s8_f32_params *p,
                                            const memopt_rows *rows, const int8_t *input,
                                            float *output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = p->scale * (float)(input[i] - p->zero_point);
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
