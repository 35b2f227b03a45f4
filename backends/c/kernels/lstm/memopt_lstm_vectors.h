/* Vectors that recurrent layers of float32 multiply with weights of float32 or int8. */
#ifndef MEMOPT_LSTM_VECTORS_H
#define MEMOPT_LSTM_VECTORS_H

#include "memopt_hybrid.h"

/* A vector as products take it: float32, or int8. */
typedef struct {
  const float *real;
  const int8_t *stored;
  int32_t zero_point;
  float scale;
} memopt_lstm_vector;

/* Whether a vector is quantized, into `to`. */
static inline memopt_lstm_vector memopt_lstm_taken(int32_t symmetric, const float *x, int32_t n,
                                                   int32_t hybrid, int8_t *to) {
  memopt_lstm_vector taken = {0, 0, 0, 1.0f};
  taken.real = x;
  if (hybrid) {
    memopt_steps steps = {0.0f, 0.0f, 1.0f, 0.0f, 0, 0};
    memopt_steps_see(&steps, x, n);
    memopt_steps_choose(&steps, symmetric);
    memopt_steps_quantize(&steps, x, n, to);
    taken.stored = to;
    taken.zero_point = steps.zero_point;
    taken.scale = steps.scale;
  }
  return taken;
}

static inline float memopt_lstm_product(const memopt_lstm_vector *x, const void *weights,
                                        float scale, int32_t row, int32_t n, int32_t hybrid) {
  int32_t i;
  if (hybrid) {
    const int8_t *w = (const int8_t *)weights + row * n;
    int32_t sum = 0;
    for (i = 0; i < n; ++i) {
      sum += (x->stored[i] - x->zero_point) * w[i];
    }
    return (float)sum * (scale * x->scale);
  } else {
    const float *w = (const float *)weights + row * n;
    float sum = 0.0f;
    for (i = 0; i < n; ++i) {
      sum += x->real[i] * w[i];
    }
    return sum;
  }
}

static inline float memopt_lstm_bent(float x, int32_t how) {
  if (how == 4) {
    return tanhf(x);
  }
  x = x < 0.0f ? 0.0f : x;
  return how == 3 && x > 6.0f ? 6.0f : x;
}

#endif
