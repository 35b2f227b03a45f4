/* L2_NORMALIZATION over the last axis, float32. A row is one vector. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t depth;
} memopt_l2_normalization_f32_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    float sum = 0.0f;
    float length;
    int32_t i;
    for (i = 0; i < p->depth; ++i) {
      sum += input[i] * input[i];
    }
    length = sqrtf(sum);
    length = length > 1e-6f ? length : 1e-6f;
    for (i = 0; i < p->depth; ++i) {
      output[i] = input[i] / length;
    }
  }
}
