/* What recurrent layers that begin at a given state share, eight units at a time. */
#ifndef MEMOPT_RECURRENT_H
#define MEMOPT_RECURRENT_H

#include "memopt_common.h"

#include <string.h>

enum { MEMOPT_UNITS = 8 };

/* 1 / (1 + exp(-by * v)) of `count` numbers: 2^k times a polynomial of what is left (Cephes, expf),
 * within 2e-7 of it. */
MEMOPT_FAST
static void memopt_logistic_of(float *v, int32_t count, float by, float clip) {
  const float low = clip > 0.0f && by * clip < 87.0f ? -by * clip : -87.0f;
  int32_t i;
  for (i = 0; i < count; ++i) {
    float x = -by * v[i];
    float t, k, r, p;
    union {
      float real;
      uint32_t bits;
    } whole;
    x = x < low ? low : x;
    x = x > -low ? -low : x;
    t = x * 1.44269504f + 12582912.0f; /* the nearest whole number in its lowest bits */
    whole.real = t;
    k = t - 12582912.0f;
    r = x - k * 0.693359375f;
    r = r + k * 2.12194440e-4f;
    p = 1.9875691500e-4f * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    whole.bits = (whole.bits << 23) + 0x3f800000u;
    v[i] = 1.0f / (1.0f + p * whole.real);
  }
}

static inline float memopt_recurrent_clip(float x, float clip) {
  return clip > 0.0f ? memopt_clamp_f32(x, -clip, clip) : x;
}

/* tanh(v) = 2 / (1 + exp(-2v)) - 1 of a block of units. */
static inline void memopt_recurrent_tanh(float *v, float clip) {
  int32_t k;
  memopt_logistic_of(v, MEMOPT_UNITS, 2.0f, clip);
  for (k = 0; k < MEMOPT_UNITS; ++k) {
    v[k] = 2.0f * v[k] - 1.0f;
  }
}

/* The bias of units from `unit` on of a gate, or of the last. */
static inline void memopt_recurrent_bias(const float *bias, int32_t last, float *acc) {
  int32_t k;
  if (last >= MEMOPT_UNITS - 1) {
    memcpy(acc, bias, MEMOPT_UNITS * sizeof *acc);
    return;
  }
  for (k = 0; k < MEMOPT_UNITS; ++k) {
    acc[k] = bias[k < last ? k : last];
  }
}

/* The walk over steps: `step` makes of p, the kernel's parameters, a vector of the sequence, and
 * what is held, null for zeros, what a step makes. In rows the row before is the last operand. */
#define MEMOPT_RECURRENT(step, p, z, in_rows)                                                  \
  do {                                                                                         \
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
