/* FULLY_CONNECTED of float32 with int8 weights. A row is one sample, which is quantized first, into
 * scratch. */
#include "memopt_hybrid.h"

typedef struct {
  int32_t in_n, out_n;
  float act_min, act_max;
  int32_t symmetric;
  int32_t scale_step;    /* 1, or 0 where one scale serves all */
  const int8_t *weights; /* [out_n][in_n] */
  const float *scale;    /* [out_n] or [1] */
  const float *bias;     /* [out_n] */
} memopt_hybrid_fully_connected_f32_params;

MEMOPT_FAST
KERNEL {
  int8_t *const x = (int8_t *)scratch;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    memopt_steps steps;
    int32_t o;
    steps.low = 0.0f;
    steps.high = 0.0f;
    memopt_steps_see(&steps, input, p->in_n);
    memopt_steps_choose(&steps, p->symmetric);
    memopt_steps_quantize(&steps, input, p->in_n, x);
    for (o = 0; o < p->out_n; ++o) {
      const int8_t *w = p->weights + o * p->in_n;
      int32_t acc = 0;
      int32_t i;
      for (i = 0; i < p->in_n; ++i) {
        acc += (x[i] - steps.zero_point) * w[i];
      }
      output[o] = memopt_clamp_f32(
          (float)acc * (steps.scale * p->scale[o * p->scale_step]) + p->bias[o], p->act_min,
          p->act_max);
    }
  }
}
