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
    int32_t o, k;
    for (o = 0; o < p->out_n; o += 4) {
      float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
      const memopt_dots_f32 of = {acc, n, p->in_n, p->out_n - 1 - o, 0};
      for (k = 0; before && k < 4 && k <= of.last; ++k) {
        acc[k] = before[o + k];
      }
      memopt_dot_1x4_f32(input, w, &of, acc);
      w += 4 * p->in_n;
      for (k = 0; k < 4 && k <= of.last; ++k) {
        if (part.last) {
          output[o + k] = memopt_clamp_f32(acc[k] + p->bias[o + k], p->act_min, p->act_max);
        } else {
          sums[o + k] = acc[k];
        }
      }
    }
  }
}
