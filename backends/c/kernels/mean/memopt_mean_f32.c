/* MEAN over neighbouring axes, float32: [rows][count][inner] to [rows][inner]. */
#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
  int32_t parts; /* see memopt_part */
} memopt_mean_f32_params;

KERNEL {
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const float *const before = (const float *)part.before;
  float *const sums = (float *)out;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      const float *x = input + i;
      float sum = before ? before[i] : 0.0f;
      int32_t n;
      for (n = p->count / part.calls; n > 0; --n) {
        sum += *x;
        x += p->inner;
      }
      if (!part.last) {
        sums[i] = sum;
        continue;
      }
      output[i] = sum / (float)p->count;
    }
  }
}
