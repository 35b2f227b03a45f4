/* SVDF of float32. */
#include "memopt_common.h"

typedef struct {
  int32_t batches, in_n, units, rank, memory;
  float act_min, act_max;
  const float *feature; /* [units][rank][in_n] */
  const float *time;    /* [units][rank][memory] */
  const float *bias;    /* [units] */
} memopt_svdf_f32_params;

/* Operands are the input and what is remembered, [batches][units][rank][memory]: the product of the
 * input with each filter comes behind the last ones, which move up. */
MEMOPT_FAST
KERNEL {
  const float *input = (const float *)in[0];
  float *state = (float *)memopt_state(in[1]);
  float *output = (float *)out;
  int32_t batch, unit, r, i;
  (void)rows;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    const float *feature = p->feature;
    const float *weights = p->time;
    for (unit = 0; unit < p->units; ++unit) {
      float total = 0.0f;
      for (r = 0; r < p->rank; ++r) {
        float newest = 0.0f;
        float sum = 0.0f;
        for (i = 0; i < p->in_n; ++i) {
          newest += feature[i] * input[i];
        }
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
