/* KIND    WEIGHTS
 * f32     float32
 * hybrid  8 bits
 */
/* A layer of gated recurrent units, as GRU of ONNX, float32, with weights of WEIGHTS: z, r and new values. */
#include "memopt_recurrent_KIND.h"

typedef struct {
  memopt_recurrent_sizes_KIND sizes;
  int32_t states; /* vectors that a step reads */
  int32_t linear_before_reset;
  int32_t in_rows;
} memopt_gru_layer_KIND_params;

static void memopt_gru_step_KIND(const memopt_gru_layer_KIND_params *p, const float *x,
                            const float *held, float *made) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  float *const reset = made + z->units; /* what is held, times r, unless it is linear before */
  const int32_t linear = p->linear_before_reset;
  int32_t unit, k;
  for (unit = 0; !linear && unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    float r[MEMOPT_UNITS];
    memopt_recurrent_bias(z->bias + z->units + unit, last, r);
    memopt_recurrent_gate_KIND(z, 1, unit, x, held, r);
    memopt_logistic_of(r, MEMOPT_UNITS, 1.0f, z->clip);
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      reset[unit + k] = held ? r[k] * held[unit + k] : 0.0f;
    }
  }
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    float gates[2 * MEMOPT_UNITS], value[MEMOPT_UNITS], again[MEMOPT_UNITS];
    float *const r = gates + MEMOPT_UNITS;
    memopt_recurrent_bias(z->bias + unit, last, gates);
    memopt_recurrent_gate_KIND(z, 0, unit, x, held, gates);
    memopt_recurrent_bias(z->bias + 2 * z->units + unit, last, value);
    memopt_recurrent_gate_KIND(z, 2, unit, x, linear ? 0 : reset, value);
    if (linear) {
      memopt_recurrent_bias(z->bias + z->units + unit, last, r);
      memopt_recurrent_gate_KIND(z, 1, unit, x, held, r);
      memopt_recurrent_bias(z->bias + 3 * z->units + unit, last, again);
      memopt_recurrent_gate_KIND(z, 2, unit, 0, held, again);
    }
    memopt_logistic_of(gates, linear ? 2 * MEMOPT_UNITS : MEMOPT_UNITS, 1.0f, z->clip);
    for (k = 0; linear && k < MEMOPT_UNITS; ++k) {
      value[k] += r[k] * again[k];
    }
    memopt_recurrent_tanh(value, z->clip);
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      const float added = (1.0f - gates[k]) * value[k];
      made[unit + k] = held ? added + gates[k] * held[unit + k] : added;
    }
  }
}

MEMOPT_FAST
KERNEL(scratch) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  MEMOPT_RECURRENT(memopt_gru_step_KIND, p, z, p->in_rows);
}
