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
  int32_t unit, k, gate;
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    float gates[4 * MEMOPT_UNITS], cell[MEMOPT_UNITS]; /* i, o, f and new values */
    for (gate = 0; gate < 4; ++gate) {
      float *const sums = gates + gate * MEMOPT_UNITS;
      memopt_recurrent_bias(z->bias + gate * z->units + unit, last, sums);
      memopt_recurrent_gate_KIND(z, gate, unit, x, held, sums);
    }
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
