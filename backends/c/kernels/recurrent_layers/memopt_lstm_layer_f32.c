/* A layer of long short-term memory, as LSTM of ONNX, float32: i, o, f and new values. */
#include "memopt_recurrent_f32.h"

typedef struct {
  memopt_recurrent_sizes sizes;
  int32_t states; /* vectors that a step reads */
  int32_t in_rows;
} memopt_lstm_layer_f32_params;

static inline void memopt_lstm_step(const memopt_lstm_layer_f32_params *p, const float *x,
                                    const float *held, float *made) {
  const memopt_recurrent_sizes *const z = &p->sizes;
  int32_t unit, k, gate;
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    float acc[4][MEMOPT_UNITS];
    for (gate = 0; gate < 4; ++gate) {
      memopt_recurrent_bias(z->bias + gate * z->units + unit, last, acc[gate]);
      memopt_recurrent_gate(z, gate, unit, x, held, acc[gate]);
    }
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      float cell = memopt_recurrent_logistic(acc[0][k], z->clip) *
                   memopt_recurrent_tanh(acc[3][k], z->clip);
      if (held) {
        cell += memopt_recurrent_logistic(acc[2][k], z->clip) * held[z->units + unit + k];
      }
      made[z->units + unit + k] = cell;
      made[unit + k] = memopt_recurrent_logistic(acc[1][k], z->clip) * tanhf(cell);
    }
  }
}

MEMOPT_FAST
KERNEL(scratch) {
  MEMOPT_RECURRENT(memopt_lstm_step, p, p->in_rows);
}
