/* Recurrent layers whose weights are float32. */
#ifndef MEMOPT_RECURRENT_F32_H
#define MEMOPT_RECURRENT_F32_H

#include "memopt_dot_f32.h"
#include "memopt_recurrent.h"

typedef struct {
  int32_t batches, in_n, units, kept; /* a step makes kept * units numbers */
  int32_t in_batch, out_batch;        /* numbers from a batch to the next */
  int32_t reverse; /* from the last step on */
  int32_t starts;  /* whether operand 1 is the initial state, else it is `start`, or zeros */
  float clip;
  const float *weights;   /* [gates][units][in_n] */
  const float *recurrent; /* [gates][units][units] */
  const float *bias;
  const float *start; /* [batches][states][units] */
} memopt_recurrent_sizes_f32;

/* acc += x.w of the units from w on, of which 0 to `last` are there. */
static inline void memopt_recurrent_dots_f32(const float *x, const float *w, int32_t n,
                                             int32_t last, float *acc) {
  memopt_dots_f32 of = {acc, n, n, last, 4 * n};
  if (last >= MEMOPT_UNITS - 1) {
    memopt_dot_1x8_f32(x, w, &of, acc);
    return;
  }
  memopt_dot_1x4_f32(x, w, &of, acc);
  if (last >= 4) {
    of.from = acc + 4;
    of.last = last - 4;
    memopt_dot_1x4_f32(x, w + 4 * n, &of, acc + 4);
  }
}

/* What a gate of the units from `unit` on takes: products of a step with its weights, those of what
 * is held with its recurrent weights where these are wanted, added to what is in `acc`. */
static inline void memopt_recurrent_gate_f32(const memopt_recurrent_sizes_f32 *z, int32_t gate,
                                         int32_t unit, const float *x, const float *held,
                                         float *acc) {
  const int32_t row = gate * z->units + unit;
  const int32_t last = z->units - 1 - unit;
  if (x) {
    memopt_recurrent_dots_f32(x, z->weights + row * z->in_n, z->in_n, last, acc);
  }
  if (held) {
    memopt_recurrent_dots_f32(held, z->recurrent + row * z->units, z->units, last, acc);
  }
}

#endif
