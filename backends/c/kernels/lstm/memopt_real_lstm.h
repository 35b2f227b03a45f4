/* A layer of long short-term memory of float32 with any of its parts: the walk over a sequence. */
#ifndef MEMOPT_REAL_LSTM_H
#define MEMOPT_REAL_LSTM_H

#include "memopt_lstm_vectors.h"

#include <string.h>

/* Parts that are not there are null. */
typedef struct {
  int32_t batches, steps, in_n, units, out_n;
  int32_t batch_step, time_step; /* vectors from one to the next */
  int32_t symmetric;
  int32_t coupled; /* there is no input gate: its weights are zeros */
  int32_t bent;    /* what the cell goes through: 1 relu, 3 relu6, 4 tanh */
  float clip, projection_clip; /* 0: none */
  const void *from_input;      /* [gate][units][in_n]: input, forget, cell and output gate */
  const void *from_hidden;     /* [gate][units][out_n] */
  const float *from_cell;      /* [gate][units] */
  const float *bias;           /* [gate][units] */
  const float *factor;         /* [gate][units] */
  const void *projection;      /* [out_n][units] */
  const float *projection_bias;
  float input_scale[4], hidden_scale[4], projection_scale;
} memopt_real_lstm_params;

static inline float memopt_lstm_logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

/* What the function of a gate takes, of all units. */
static inline void memopt_lstm_gate(const memopt_real_lstm_params *p, int32_t gate,
                                    const memopt_lstm_vector *x, const memopt_lstm_vector *shown,
                                    const float *cell, int32_t hybrid, float *sums) {
  const int32_t first = gate * p->units;
  int32_t unit;
  for (unit = 0; unit < p->units; ++unit) {
    const int32_t row = first + unit;
    float sum = p->factor ? 0.0f : p->bias[row];
    sum += memopt_lstm_product(x, p->from_input, p->input_scale[gate], row, p->in_n, hybrid);
    sum += memopt_lstm_product(shown, p->from_hidden, p->hidden_scale[gate], row, p->out_n, hybrid);
    sum += p->from_cell ? p->from_cell[row] * cell[unit] : 0.0f;
    sums[unit] = sum;
  }
  if (p->factor) {
    float mean = 0.0f;
    float spread = 0.0f;
    for (unit = 0; unit < p->units; ++unit) {
      mean += sums[unit];
    }
    mean /= (float)p->units;
    for (unit = 0; unit < p->units; ++unit) {
      spread += (sums[unit] - mean) * (sums[unit] - mean);
    }
    spread = sqrtf(spread / (float)p->units + 1e-8f);
    for (unit = 0; unit < p->units; ++unit) {
      sums[unit] = (sums[unit] - mean) / spread * p->factor[first + unit] + p->bias[first + unit];
    }
  }
}

/* One step of one batch. `scratch` has room for 4 vectors of units and, if the weights are stored,
 * for the bytes of three vectors. */
static inline void memopt_lstm_step(const memopt_real_lstm_params *p, const float *input,
                                    float *hidden, float *cell, int32_t hybrid, float *scratch) {
  float *const forget = scratch + p->units;
  float *const made = forget + p->units;
  float *const shown = made + p->units;
  int8_t *const bytes = (int8_t *)(void *)(shown + p->units);
  const memopt_lstm_vector x = memopt_lstm_taken(p->symmetric, input, p->in_n, hybrid, bytes);
  const memopt_lstm_vector h =
      memopt_lstm_taken(p->symmetric, hidden, p->out_n, hybrid, bytes + p->in_n);
  int32_t i;
  if (!p->coupled) {
    memopt_lstm_gate(p, 0, &x, &h, cell, hybrid, scratch);
  }
  memopt_lstm_gate(p, 1, &x, &h, cell, hybrid, forget);
  memopt_lstm_gate(p, 2, &x, &h, cell, hybrid, made);
  for (i = 0; i < p->units; ++i) {
    const float open = memopt_lstm_logistic(forget[i]);
    const float added = p->coupled ? 1.0f - open : memopt_lstm_logistic(scratch[i]);
    const float kept = open * cell[i] + added * memopt_lstm_bent(made[i], p->bent);
    cell[i] = p->clip > 0.0f ? memopt_clamp_f32(kept, -p->clip, p->clip) : kept;
  }
  memopt_lstm_gate(p, 3, &x, &h, cell, hybrid, shown);
  for (i = 0; i < p->units; ++i) {
    shown[i] = memopt_lstm_logistic(shown[i]) * memopt_lstm_bent(cell[i], p->bent);
  }
  if (p->projection) {
    const memopt_lstm_vector v =
        memopt_lstm_taken(p->symmetric, shown, p->units, hybrid, bytes + p->in_n + p->out_n);
    const float most = p->projection_clip;
    for (i = 0; i < p->out_n; ++i) {
      float sum = p->projection_bias ? p->projection_bias[i] : 0.0f;
      sum += memopt_lstm_product(&v, p->projection, p->projection_scale, i, p->units, hybrid);
      hidden[i] = most > 0.0f ? memopt_clamp_f32(sum, -most, most) : sum;
    }
  } else {
    memcpy(hidden, shown, (size_t)p->out_n * sizeof *hidden);
  }
}

/* Operands are the sequence, what is hidden, and the cell. */
static inline void memopt_lstm_walk(const memopt_real_lstm_params *p, const void *const *in,
                                    float *out, int32_t hybrid, float *scratch) {
  int32_t batch, step;
  for (batch = 0; batch < p->batches; ++batch) {
    float *hidden = (float *)memopt_state(in[1]) + batch * p->out_n;
    float *cell = (float *)memopt_state(in[2]) + batch * p->units;
    for (step = 0; step < p->steps; ++step) {
      const int32_t at = batch * p->batch_step + step * p->time_step;
      memopt_lstm_step(p, (const float *)in[0] + at * p->in_n, hidden, cell, hybrid, scratch);
      memcpy(out + at * p->out_n, hidden, (size_t)p->out_n * sizeof *hidden);
    }
  }
}

#endif
