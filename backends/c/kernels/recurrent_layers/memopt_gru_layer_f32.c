/* A layer of gated recurrent units, as GRU of ONNX, float32: z, r and new values. */
#include "memopt_recurrent_f32.h"

typedef struct {
  memopt_recurrent_sizes sizes;
  int32_t states; /* vectors that a step reads */
  int32_t linear_before_reset;
  int32_t in_rows;
} memopt_gru_layer_f32_params;

static inline void memopt_gru_step(const memopt_gru_layer_f32_params *p, const float *x,
                                   const float *held, float *made) {
  const memopt_recurrent_sizes *const z = &p->sizes;
  float *const reset = made + z->units; /* what is held, times r, unless it is linear before */
  int32_t unit, k;
  for (unit = 0; !p->linear_before_reset && unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    float acc[MEMOPT_UNITS];
    memopt_recurrent_bias(z->bias + z->units + unit, last, acc);
    memopt_recurrent_gate(z, 1, unit, x, held, acc);
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      const float r = memopt_recurrent_logistic(acc[k], z->clip);
      reset[unit + k] = held ? r * held[unit + k] : 0.0f;
    }
  }
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    float kept[MEMOPT_UNITS], made_new[MEMOPT_UNITS];
    memopt_recurrent_bias(z->bias + unit, last, kept);
    memopt_recurrent_gate(z, 0, unit, x, held, kept);
    memopt_recurrent_bias(z->bias + 2 * z->units + unit, last, made_new);
    memopt_recurrent_gate(z, 2, unit, x, p->linear_before_reset ? 0 : reset, made_new);
    if (p->linear_before_reset) {
      float r[MEMOPT_UNITS], again[MEMOPT_UNITS];
      memopt_recurrent_bias(z->bias + z->units + unit, last, r);
      memopt_recurrent_gate(z, 1, unit, x, held, r);
      memopt_recurrent_bias(z->bias + 3 * z->units + unit, last, again);
      memopt_recurrent_gate(z, 2, unit, 0, held, again);
      for (k = 0; k < MEMOPT_UNITS; ++k) {
        made_new[k] += memopt_recurrent_logistic(r[k], z->clip) * again[k];
      }
    }
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      const float share = memopt_recurrent_logistic(kept[k], z->clip);
      const float value = (1.0f - share) * memopt_recurrent_tanh(made_new[k], z->clip);
      made[unit + k] = held ? value + share * held[unit + k] : value;
    }
  }
}

MEMOPT_FAST
KERNEL(scratch) {
  MEMOPT_RECURRENT(memopt_gru_step, p, p->in_rows);
}
