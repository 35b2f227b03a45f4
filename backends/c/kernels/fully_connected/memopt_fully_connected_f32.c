/* FULLY_CONNECTED, float32. A row is one sample. */
#include "memopt_common.h"
#include "memopt_dot_f32.h"

typedef struct {
  int32_t in_n, out_n;
  float act_min, act_max;
  int32_t parts;        /* see memopt_part: each is in_n / parts elements */
  const float *weights; /* [out_n][in_n] */
  const float *bias;    /* [out_n] */
} memopt_fully_connected_f32_params;

MEMOPT_FAST
KERNEL {
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const int32_t n = p->in_n / part.calls;
  const float *const before = (const float *)part.before;
  float *const sums = (float *)out;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    const float *w = p->weights + (p->parts > 0 ? rows->out_begin * n : 0);
    int32_t o;
    for (o = 0; o < p->out_n; o += 2) {
      const int32_t two = o + 1 < p->out_n;
      float acc[2] = {0.0f, 0.0f};
      if (before) {
        acc[0] = before[o];
        acc[1] = before[o + two];
      }
      memopt_dot_1x2_f32(input, w, two ? w + p->in_n : w, n, acc);
      w += 2 * p->in_n;
      if (!part.last) {
        sums[o + two] = acc[two];
        sums[o] = acc[0];
        continue;
      }
      output[o] = memopt_clamp_f32(acc[0] + p->bias[o], p->act_min, p->act_max);
      if (two) {
        output[o + 1] = memopt_clamp_f32(acc[1] + p->bias[o + 1], p->act_min, p->act_max);
      }
    }
  }
}
