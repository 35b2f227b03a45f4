#include "memopt_mean_f32.h"

MEMOPT_KERNEL void memopt_mean_f32(const memopt_mean_f32_params *p, const memopt_rows *rows,
                                   const float *input, float *restrict output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      const float *x = input + i;
      float sum = 0.0f;
      int32_t n;
      for (n = p->count; n > 0; --n) {
        sum += *x;
        x += p->inner;
      }
      output[i] = sum / (float)p->count;
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
