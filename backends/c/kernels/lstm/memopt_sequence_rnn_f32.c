/* UNIDIRECTIONAL_SEQUENCE_RNN, float32, with weights of float32 or int8. */
#include "memopt_lstm_vectors.h"

#include <string.h>

typedef struct {
  int32_t batches, steps, in_n, units;
  int32_t batch_step, time_step; /* vectors from one to the next */
  int32_t hybrid, symmetric;
  int32_t bent; /* 0 nothing, 1 relu, 3 relu6, 4 tanh */
  float input_scale, hidden_scale;
  const void *from_input;  /* [units][in_n] */
  const void *from_hidden; /* [units][units] */
  const float *bias;
} memopt_sequence_rnn_f32_params;

/* Operands are the sequence and what is hidden. */
MEMOPT_FAST
KERNEL {
  float *const made = (float *)scratch;
  int8_t *const bytes = (int8_t *)(void *)(made + p->units);
  int32_t batch, step, i;
  (void)rows;
  for (batch = 0; batch < p->batches; ++batch) {
    float *hidden = (float *)memopt_state(in[1]) + batch * p->units;
    for (step = 0; step < p->steps; ++step) {
      const int32_t at = batch * p->batch_step + step * p->time_step;
      const float *input = (const float *)in[0] + at * p->in_n;
      const memopt_lstm_vector x =
          memopt_lstm_taken(p->symmetric, input, p->in_n, p->hybrid, bytes);
      const memopt_lstm_vector h =
          memopt_lstm_taken(p->symmetric, hidden, p->units, p->hybrid, bytes + p->in_n);
      for (i = 0; i < p->units; ++i) {
        float sum = p->bias[i];
        sum += memopt_lstm_product(&x, p->from_input, p->input_scale, i, p->in_n, p->hybrid);
        sum += memopt_lstm_product(&h, p->from_hidden, p->hidden_scale, i, p->units, p->hybrid);
        made[i] = p->bent ? memopt_lstm_bent(sum, p->bent) : sum;
      }
      memcpy(hidden, made, (size_t)p->units * sizeof *hidden);
      memcpy((float *)out + at * p->units, made, (size_t)p->units * sizeof *hidden);
    }
  }
}
