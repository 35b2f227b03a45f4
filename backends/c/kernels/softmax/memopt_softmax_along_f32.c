/* SOFTMAX over any axis, float32: [rows][depth][inner], of which each [depth] is one vector. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t depth, inner;
  float beta;
} memopt_softmax_along_f32_params;

/* `output` may be `input`. */
KERNEL {
  const int32_t size = p->depth * p->inner;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    int32_t first;
    for (first = 0; first < p->inner; ++first) {
      float max = input[first];
      float sum = 0.0f;
      int32_t i;
      for (i = first; i < size; i += p->inner) {
        max = input[i] > max ? input[i] : max;
      }
      for (i = first; i < size; i += p->inner) {
        output[i] = expf((input[i] - max) * p->beta);
        sum += output[i];
      }
      for (i = first; i < size; i += p->inner) {
        output[i] /= sum;
      }
    }
  }
}
