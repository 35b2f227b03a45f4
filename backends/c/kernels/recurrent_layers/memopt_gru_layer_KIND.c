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
  const memopt_recurrent_sum gates[MEMOPT_SUMS] = {
      {1, 1, x, held}, {0, 0, x, held}, {2, 2, x, linear ? 0 : reset}, {3, 2, 0, held}};
  float sums[MEMOPT_SUMS * MEMOPT_UNITS];
  float *const r = sums, *const update = r + MEMOPT_UNITS;
  float *const value = update + MEMOPT_UNITS, *const again = value + MEMOPT_UNITS;
  memopt_recurrent_plan_KIND plan;
  int32_t unit, k;
  memopt_recurrent_begin_KIND(&plan, z, gates, linear ? 4 : 1, r);
  for (unit = 0; !linear && unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    memopt_recurrent_block_KIND(&plan, last);
    memopt_logistic_of(r, MEMOPT_UNITS, 1.0f, z->clip);
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      reset[unit + k] = held ? r[k] * held[unit + k] : 0.0f;
    }
  }
  if (!linear) {
    memopt_recurrent_begin_KIND(&plan, z, gates + 1, 2, update);
  }
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    const int32_t n = last < MEMOPT_UNITS ? last + 1 : MEMOPT_UNITS;
    memopt_recurrent_block_KIND(&plan, last);
    memopt_logistic_of(linear ? r : update, linear ? 2 * MEMOPT_UNITS : MEMOPT_UNITS, 1.0f, z->clip);
    for (k = 0; linear && k < MEMOPT_UNITS; ++k) {
      value[k] += r[k] * again[k];
    }
    memopt_logistic_of(value, MEMOPT_UNITS, 2.0f, z->clip); /* tanh(v) = 2 * this - 1 */
    for (k = 0; k < n; ++k) {
      made[unit + k] = (1.0f - update[k]) * (2.0f * value[k] - 1.0f);
    }
    for (k = 0; held && k < n; ++k) {
      made[unit + k] += update[k] * held[unit + k];
    }
  }
}

MEMOPT_FAST
KERNEL(scratch) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  MEMOPT_RECURRENT(memopt_gru_step_KIND, p, z, p->in_rows);
}
