/* UNIDIRECTIONAL_SEQUENCE_LSTM, float32. */
#include "memopt_common.h"

#include <math.h>
#include <string.h>

typedef struct {
  int32_t batches, steps, in_n, units;
  int32_t batch_step, time_step; /* vectors from one to the next */
  float clip;                    /* 0: none */
  const float *from_input;       /* [gate][units][in_n]: input, forget, cell and output gate */
  const float *from_hidden;      /* [gate][units][units] */
  const float *bias;             /* [gate][units] */
} memopt_lstm_f32_params;

static inline float lstm_dot_f32(const float *x, const float *w, int32_t n) {
  float sum = 0.0f;
  int32_t i;
  for (i = 0; i < n; ++i) {
    sum += x[i] * w[i];
  }
  return sum;
}

static inline float lstm_logistic_f32(float x) { return 1.0f / (1.0f + expf(-x)); }

/* Operands are the sequence, what is hidden, and the cell. */
MEMOPT_FAST
KERNEL {
  int32_t batch, step, unit, g;
  (void)rows;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    float *hidden = (float *)memopt_state(in[1]) + batch * p->units;
    float *cell = (float *)memopt_state(in[2]) + batch * p->units;
    for (step = 0; step < p->steps; ++step) {
      const int32_t at = batch * p->batch_step + step * p->time_step;
      const float *x = (const float *)in[0] + at * p->in_n;
      float *output = (float *)out + at * p->units;
      for (unit = 0; unit < p->units; ++unit) {
        float sums[4];
        float kept;
        for (g = 0; g < 4; ++g) {
          const int32_t row = g * p->units + unit;
          sums[g] = lstm_dot_f32(x, p->from_input + row * p->in_n, p->in_n) + p->bias[row];
          sums[g] += lstm_dot_f32(hidden, p->from_hidden + row * p->units, p->units);
        }
        kept = lstm_logistic_f32(sums[1]) * cell[unit];
        kept += lstm_logistic_f32(sums[0]) * tanhf(sums[2]);
        cell[unit] = p->clip > 0 ? memopt_clamp_f32(kept, -p->clip, p->clip) : kept;
        output[unit] = lstm_logistic_f32(sums[3]) * tanhf(cell[unit]);
      }
      memcpy(hidden, output, (size_t)p->units * sizeof *hidden);
    }
  }
}
