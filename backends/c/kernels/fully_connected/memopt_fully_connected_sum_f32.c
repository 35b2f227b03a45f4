/* A part of FULLY_CONNECTED, float32: sums over some of the elements of a sample, which is a row.
 * They overwrite what is there or are added to it; the last part has bias and activation of all.
 */
#include "memopt_common.h"
#include "memopt_dot_f32.h"

typedef struct {
  int32_t in_n, out_n;
  int32_t adds; /* to what is there */
  float act_min, act_max;
  const float *weights; /* [out_n][in_n] */
  const float *bias;    /* [out_n] */
} memopt_fully_connected_sum_f32_params;

MEMOPT_FAST
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *const input = (const float *)memopt_in_row(rows, in, 0, row);
    float *const output = (float *)memopt_out_row(rows, out, row);
    const float *w = p->weights;
    int32_t o, k;
    for (o = 0; o < p->out_n; o += 4) {
      float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
      const memopt_dots_f32 of = {acc, p->in_n, p->in_n, p->out_n - 1 - o, 0};
      memopt_dot_1x4_f32(input, w, &of, acc);
      for (k = 0; k < 4 && k <= of.last; ++k) {
        const float sum = p->adds ? output[o + k] + acc[k] : acc[k];
        output[o + k] = memopt_clamp_f32(sum + p->bias[o + k], p->act_min, p->act_max);
      }
      w += 4 * p->in_n;
    }
  }
}
