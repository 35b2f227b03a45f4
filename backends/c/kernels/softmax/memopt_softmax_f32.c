#include "memopt_softmax_f32.h"

#include <math.h>

MEMOPT_KERNEL void memopt_softmax_f32(const memopt_softmax_f32_params *p, const memopt_rows *rows,
                                      const float *input, float *output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    float max = input[0];
    float sum = 0.0f;
    int32_t i;
    for (i = 1; i < p->depth; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    for (i = 0; i < p->depth; ++i) {
      output[i] = expf((input[i] - max) * p->beta);
      sum += output[i];
    }
    for (i = 0; i < p->depth; ++i) {
      output[i] /= sum;
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
