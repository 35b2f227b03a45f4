#include "memopt_tanh_f32.h"

#include <math.h>

MEMOPT_KERNEL void memopt_tanh_f32(const memopt_tanh_f32_params *p, const memopt_rows *rows,
                                   const float *input, float *output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = tanhf(input[i]);
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
