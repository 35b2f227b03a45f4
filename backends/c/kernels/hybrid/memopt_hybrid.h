/* Reals quantized at run time (TensorFlow Lite, portable_tensor_utils.cc): int8 numbers that stand
 * for (number - zero_point) * scale. */
#ifndef MEMOPT_HYBRID_H
#define MEMOPT_HYBRID_H

#include "memopt_common.h"

#include <math.h>

typedef struct {
  float low, high; /* the least and the largest number seen, and 0 */
  float scale, inverse;
  int32_t zero_point, least;
} memopt_steps;

static inline void memopt_steps_see(memopt_steps *s, const float *x, int32_t n) {
  int32_t i;
  for (i = 0; i < n; ++i) {
    s->low = x[i] < s->low ? x[i] : s->low;
    s->high = x[i] > s->high ? x[i] : s->high;
  }
}

/* The zero point nearest to what keeps the end that has the smaller rounding error. */
static inline int32_t memopt_steps_zero(double low, double high, double scale) {
  const double from_low = -128.0 - low / scale;
  const double from_high = 127.0 - high / scale;
  double zero = 128.0 - low / scale < 127.0 + high / scale ? from_low : from_high;
  int32_t whole;
  zero = zero > -128.0 ? zero : -128.0; /* also where it is no number */
  zero = zero < 127.0 ? zero : 127.0;
  whole = (int32_t)zero;
  if (zero - whole >= 0.5) {
    ++whole;
  } else if (whole - zero >= 0.5) {
    --whole;
  }
  return whole;
}

/* From the ends that were seen. */
static inline void memopt_steps_choose(memopt_steps *s, int32_t symmetric) {
  const float size = -s->low > s->high ? -s->low : s->high;
  s->zero_point = 0;
  s->least = symmetric ? -127 : -128;
  s->scale = 1.0f;
  s->inverse = 0.0f; /* nothing but 0 was seen */
  if (size > 0.0f && symmetric) {
    s->scale = size / 127.0f;
    s->inverse = 127.0f / size;
  } else if (size > 0.0f) {
    const float range = s->high - s->low;
    const double scale = (double)range / 255.0;
    s->zero_point = memopt_steps_zero((double)s->low, (double)s->high, scale);
    s->scale = (float)scale;
    s->inverse = 1.0f / s->scale;
  }
}

static inline void memopt_steps_quantize(const memopt_steps *s, const float *x, int32_t n,
                                         int8_t *out) {
  const float least = (float)s->least;
  int32_t i;
  for (i = 0; i < n; ++i) {
    float value = roundf((float)s->zero_point + x[i] * s->inverse);
    value = value > least ? value : least; /* also what is no number */
    out[i] = (int8_t)(value < 127.0f ? value : 127.0f);
  }
}

/* A whole image, row by row. */
static inline memopt_steps memopt_steps_of(const memopt_rows *rows, const void *const *in,
                                           int32_t count, int32_t row_n, int32_t symmetric,
                                           void *to) {
  int8_t *const out = (int8_t *)to;
  memopt_steps s = {0.0f, 0.0f, 1.0f, 0.0f, 0, 0};
  int32_t row;
  for (row = 0; row < count; ++row) {
    memopt_steps_see(&s, (const float *)memopt_in_row(rows, in, 0, row), row_n);
  }
  memopt_steps_choose(&s, symmetric);
  for (row = 0; row < count; ++row) {
    memopt_steps_quantize(&s, (const float *)memopt_in_row(rows, in, 0, row), row_n,
                          out + row * row_n);
  }
  return s;
}

#endif
