/* SVDF of float32 with int8 weights. An input is quantized first, into scratch. */
#include "memopt_hybrid.h"

typedef struct {
  int32_t batches, in_n, units, rank, memory;
  float act_min, act_max;
  int32_t symmetric;
  float scale;           /* of a step of the filters */
  const int8_t *feature; /* [units][rank][in_n] */
  const float *time;     /* [units][rank][memory] */
  const float *bias;     /* [units] */
} memopt_hybrid_svdf_f32_params;

/* Operands are the input and what is remembered, [batches][units][rank][memory]: the product of the
 * input with each filter comes behind the last ones, which move up. */
MEMOPT_FAST
KERNEL {
  const float *input = (const float *)in[0];
  float *state = (float *)memopt_state(in[1]);
  float *output = (float *)out;
  int8_t *const x = (int8_t *)scratch;
  int32_t batch, unit, r, i;
  (void)rows;
  for (batch = 0; batch < p->batches; ++batch) {
    const int8_t *feature = p->feature;
    const float *weights = p->time;
    memopt_steps steps = {0.0f, 0.0f, 1.0f, 0.0f, 0, 0};
    memopt_steps_see(&steps, input, p->in_n);
    memopt_steps_choose(&steps, p->symmetric);
    memopt_steps_quantize(&steps, input, p->in_n, x);
    for (unit = 0; unit < p->units; ++unit) {
      float total = 0.0f;
      for (r = 0; r < p->rank; ++r) {
        float newest;
        float sum = 0.0f;
        int32_t product = 0;
        for (i = 0; i < p->in_n; ++i) {
          product += feature[i] * (x[i] - steps.zero_point);
        }
        newest = (float)product * (steps.scale * p->scale);
        for (i = 0; i < p->memory; ++i) {
          state[i] = i + 1 < p->memory ? state[i + 1] : newest;
          sum += state[i] * weights[i];
        }
        total += sum;
        feature += p->in_n;
        weights += p->memory;
        state += p->memory;
      }
      output[unit] = memopt_clamp_f32(total + p->bias[unit], p->act_min, p->act_max);
    }
    input += p->in_n;
    output += p->units;
  }
}
