/* LOG_SOFTMAX over the last axis, float32. A row is one vector. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t depth;
} memopt_log_softmax_f32_params;

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
    i = 0;
    do {
      sum += expf(input[i] - max);
    } while (++i < p->depth);
    sum = logf(sum);
    for (i = 0; i < p->depth; ++i) {
      output[i] = input[i] - max - sum;
    }
  }
}
