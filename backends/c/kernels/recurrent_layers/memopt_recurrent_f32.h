/* Recurrent layers of float32 that begin at a given state, four units at a time. */
#ifndef MEMOPT_RECURRENT_F32_H
#define MEMOPT_RECURRENT_F32_H

#include "memopt_common.h"

#include <math.h>

enum { MEMOPT_UNITS = 4 };

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
} memopt_recurrent_sizes;

/* acc[k] += x.w of rows 0 .. 3 of w, or of `last` for those behind it. */
MEMOPT_FAST
static inline void memopt_dot_1x4_f32(const float *x, const float *w, int32_t n, int32_t last,
                                      float *acc) {
  const float *w0 = w;
  const float *w1 = w + (last > 0 ? n : 0);
  const float *w2 = last > 1 ? w1 + n : w1;
  const float *w3 = last > 2 ? w2 + n : w2;
  float a0 = acc[0];
  float a1 = acc[1];
  float a2 = acc[2];
  float a3 = acc[3];
  for (; n > 3; n -= 4) {
    const float xa = x[0];
    const float xb = x[1];
    const float xc = x[2];
    const float xd = x[3];
    a0 += xa * w0[0];
    a1 += xa * w1[0];
    a2 += xa * w2[0];
    a3 += xa * w3[0];
    a0 += xb * w0[1];
    a1 += xb * w1[1];
    a2 += xb * w2[1];
    a3 += xb * w3[1];
    a0 += xc * w0[2];
    a1 += xc * w1[2];
    a2 += xc * w2[2];
    a3 += xc * w3[2];
    a0 += xd * w0[3];
    a1 += xd * w1[3];
    a2 += xd * w2[3];
    a3 += xd * w3[3];
    x += 4;
    w0 += 4;
    w1 += 4;
    w2 += 4;
    w3 += 4;
  }
  for (; n > 0; --n) {
    const float xv = *x++;
    a0 += xv * *w0++;
    a1 += xv * *w1++;
    a2 += xv * *w2++;
    a3 += xv * *w3++;
  }
  acc[0] = a0;
  acc[1] = a1;
  acc[2] = a2;
  acc[3] = a3;
}

static inline float memopt_recurrent_clip(float x, float clip) {
  return clip > 0.0f ? memopt_clamp_f32(x, -clip, clip) : x;
}

static inline float memopt_recurrent_logistic(float x, float clip) {
  return 1.0f / (1.0f + expf(-memopt_recurrent_clip(x, clip)));
}

static inline float memopt_recurrent_tanh(float x, float clip) {
  return tanhf(memopt_recurrent_clip(x, clip));
}

/* The bias of units from `unit` on of a gate, or of the last. */
static inline void memopt_recurrent_bias(const float *bias, int32_t last, float *acc) {
  int32_t k;
  for (k = 0; k < MEMOPT_UNITS; ++k) {
    acc[k] = bias[k < last ? k : last];
  }
}

/* What a gate of the units from `unit` on takes: products of a step with its weights, those of what
 * is held with its recurrent weights where these are wanted, added to what is in `acc`. */
static inline void memopt_recurrent_gate(const memopt_recurrent_sizes *z, int32_t gate,
                                         int32_t unit, const float *x, const float *held,
                                         float *acc) {
  const int32_t row = gate * z->units + unit;
  const int32_t last = z->units - 1 - unit;
  if (x) {
    memopt_dot_1x4_f32(x, z->weights + row * z->in_n, z->in_n, last, acc);
  }
  if (held) {
    memopt_dot_1x4_f32(held, z->recurrent + row * z->units, z->units, last, acc);
  }
}

/* The walk over steps: `step` makes of p, the kernel's parameters, a vector of the sequence, and
 * what is held, null for zeros, what a step makes. In rows the row before is the last operand. */
#define MEMOPT_RECURRENT(step, p, in_rows)                                                     \
  do {                                                                                         \
    const memopt_recurrent_sizes *const z = &(p)->sizes;                                       \
    const int32_t count = rows->out_end - rows->out_begin;                                     \
    int32_t number, batch;                                                                     \
    for (number = 0; number < count; ++number) {                                               \
      const int32_t row = z->reverse ? rows->out_end - 1 - number : rows->out_begin + number;  \
      const float *x = (const float *)memopt_in_row(rows, in, 0, row);                         \
      float *made = (float *)memopt_out_row(rows, out, row);                                   \
      const float *start = z->starts ? (const float *)in[rows->in_count] : z->start;                  \
      const float *before = 0;                                                                 \
      if ((in_rows) && row > 0) {                                                              \
        before = (const float *)in[rows->in_count * (1 + z->starts)];                          \
      } else if (number > 0) {                                                                 \
        before = (const float *)memopt_out_row(rows, out, z->reverse ? row + 1 : row - 1);     \
      }                                                                                        \
      for (batch = 0; batch < z->batches; ++batch) {                                           \
        step(p, x + batch * z->in_batch,                                                       \
             before  ? before + batch * z->out_batch                                           \
             : start ? start + batch * (p)->states * z->units                                  \
                     : 0,                                                                      \
             made + batch * z->out_batch);                                                     \
      }                                                                                        \
    }                                                                                          \
  } while (0)

#endif
