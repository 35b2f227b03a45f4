/* KIND    WEIGHTS
 * f32     float32
 * hybrid  8 bits
 */
/* A layer of long short-term memory, as LSTM of ONNX, float32, with weights of WEIGHTS: i, o, f and new values. */
#include "memopt_recurrent_KIND.h"

typedef struct {
  memopt_recurrent_sizes_KIND sizes;
  int32_t states; /* vectors that a step reads */
  int32_t in_rows;
} memopt_lstm_layer_KIND_params;

static void memopt_lstm_step_KIND(const memopt_lstm_layer_KIND_params *p, const float *x,
                             const float *held, float *made) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  const memopt_recurrent_sum sums[MEMOPT_SUMS] = {
      {0, 0, x, held}, {1, 1, x, held}, {2, 2, x, held}, {3, 3, x, held}};
  float gates[4 * MEMOPT_UNITS], cell[MEMOPT_UNITS]; /* i, o, f and new values */
  memopt_recurrent_plan_KIND plan;
  int32_t unit, k;
  memopt_recurrent_begin_KIND(&plan, z, sums, 4, gates);
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    memopt_recurrent_block_KIND(&plan, last);
    memopt_logistic_of(gates, 3 * MEMOPT_UNITS, 1.0f, z->clip);
    memopt_recurrent_tanh(gates + 3 * MEMOPT_UNITS, z->clip);
    for (k = 0; k < MEMOPT_UNITS; ++k) {
      const int32_t number = k < last ? k : last;
      cell[k] = gates[k] * gates[3 * MEMOPT_UNITS + k];
      if (held) {
        cell[k] += gates[2 * MEMOPT_UNITS + k] * held[z->units + unit + number];
      }
      made[z->units + unit + number] = cell[number];
    }
    memopt_recurrent_tanh(cell, 0.0f);
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      made[unit + k] = gates[MEMOPT_UNITS + k] * cell[k];
    }
  }
}

MEMOPT_FAST
KERNEL(scratch) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  MEMOPT_RECURRENT(memopt_lstm_step_KIND, p, z, p->in_rows);
}
