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
    int32_t o;
    for (o = 0; o < p->out_n; o += 2) {
      const int32_t n = o + 1 < p->out_n ? 2 : 1;
      float acc[2] = {0.0f, 0.0f};
      int32_t i;
      memopt_dot_1x2_f32(input, w, n == 2 ? w + p->in_n : w, p->in_n, acc);
      for (i = 0; i < n; ++i) {
        const float sum = p->adds ? output[o + i] + acc[i] : acc[i];
        output[o + i] = memopt_clamp_f32(sum + p->bias[o + i], p->act_min, p->act_max);
      }
      w += n * p->in_n;
    }
  }
}
