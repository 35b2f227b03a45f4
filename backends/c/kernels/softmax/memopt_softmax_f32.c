/* SOFTMAX over the last axis, float32. A row is one vector. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t depth;
  float beta;
} memopt_softmax_f32_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
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
  }
}
