/* What recurrent layers that begin at a given state share, eight units at a time. */
#ifndef MEMOPT_RECURRENT_H
#define MEMOPT_RECURRENT_H

#include "memopt_common.h"

#include <string.h>

#if defined(__GNUC__)
#define MEMOPT_RARELY(condition) __builtin_expect((condition) != 0, 0)
#else
#define MEMOPT_RARELY(condition) (condition)
#endif

enum { MEMOPT_UNITS = 8, MEMOPT_SUMS = 4 }; /* at a time */

typedef union {
  float real;
  uint32_t bits;
} memopt_real_bits;

/* 1 + 2^x of what is clamped to +-high: a power of two times a polynomial of the rest. */
static MEMOPT_INLINE float memopt_power_and_one(float x, memopt_real_bits high) {
  memopt_real_bits of;
  float t, p;
  of.real = x;
  if (MEMOPT_RARELY(of.bits << 1 > high.bits << 1)) {
    x = x < -high.real ? -high.real : x;
    x = x > high.real ? high.real : x;
  }
  t = x + 12582912.0f; /* the nearest whole number in its lowest bits */
  of.real = t;
  x = x - (t - 12582912.0f);
  p = 1.3264727e-3f * x + 9.671513e-3f;
  p = p * x + 5.5507336e-2f;
  p = p * x + 2.4022242e-1f;
  p = p * x + 6.93147e-1f;
  p = p * x + 1.0f;
  of.bits = (of.bits << 23) + 0x3f800000u;
  return 1.0f + p * of.real;
}

/* 1 / (1 + exp(-by * v)) of `count` numbers, an even one, within 2e-7 of it, by one division for two. An
 * exponential stays beyond 2^62. */
MEMOPT_FAST
static void memopt_logistic_of(float *v, int32_t count, float by, float clip) {
  const float to_power = -1.44269504f * by;
  float *const end = v + count;
  memopt_real_bits high;
  high.real = clip > 0.0f && by * clip < 42.0f ? 1.44269504f * by * clip : 62.0f;
  for (; v != end; v += 2) {
    const float a = memopt_power_and_one(v[0] * to_power, high);
    const float b = memopt_power_and_one(v[1] * to_power, high);
    const float both = 1.0f / (a * b);
    v[0] = both * b;
    v[1] = both * a;
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

/* Sums of a block of units: biases of number `bias`, products of a step with the weights of a gate, and of
 * what is held with its recurrent weights, where these are wanted. */
typedef struct {
  int32_t bias, gate;
  const float *x, *held;
} memopt_recurrent_sum;

/* The bias of the units that there are, and of the last for those behind it. */
static inline void memopt_recurrent_bias(const float *bias, int32_t last, float *acc) {
  int32_t k;
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
