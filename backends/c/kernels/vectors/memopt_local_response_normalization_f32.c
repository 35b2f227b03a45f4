/* LOCAL_RESPONSE_NORMALIZATION over the last axis, float32. A row is one vector. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t depth, radius;
  float bias, alpha, beta;
} memopt_local_response_normalization_f32_params;

KERNEL {
  int32_t row, i, k;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    for (i = 0; i < p->depth; ++i) {
      const int32_t first = i < p->radius ? 0 : i - p->radius;
      const int32_t end = p->depth - i > p->radius ? i + p->radius + 1 : p->depth;
      float sum = 0.0f;
      for (k = first; k < end; ++k) {
        sum += input[k] * input[k];
      }
      output[i] = input[i] * powf(p->bias + p->alpha * sum, -p->beta);
    }
  }
}
