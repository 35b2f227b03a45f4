/* SVDF of int8 (TensorFlow Lite Micro, svdf_common.cc), for each type of what is remembered. */
#ifndef MEMOPT_SVDF_H
#define MEMOPT_SVDF_H

#include "memopt_common.h"

typedef struct {
  int32_t batches, in_n, units, rank, memory;
  int32_t input_zero_point, state_zero_point, output_zero_point;
  int32_t feature_multiplier, feature_shift; /* see memopt_requantize */
  int32_t time_multiplier, time_shift;
  const int8_t *feature; /* [units][rank][in_n] */
  const int32_t *bias;   /* [units] */
} memopt_svdf_sizes;

/* One run: the product of the input with each filter is remembered behind the last ones, which move
 * up, and their sum over time is added up. p is the kernel's parameters, of integers of `type`,
 * low .. high. Sums of int16's may wrap, as they do there. */
#define MEMOPT_SVDF(type, low, high, p)                                                           \
  do {                                                                                            \
    const memopt_svdf_sizes *const z = &(p)->sizes;                                               \
    const int8_t *input = (const int8_t *)in[0];                                                  \
    type *state = (type *)memopt_state(in[1]);                                                    \
    int8_t *output = (int8_t *)out;                                                               \
    int32_t batch, unit, r, i;                                                                    \
    for (batch = 0; batch < z->batches; ++batch) {                                                \
      const int8_t *feature = z->feature;                                                         \
      const type *weights = (p)->time;                                                            \
      for (unit = 0; unit < z->units; ++unit) {                                                   \
        uint32_t sum = (uint32_t)z->bias[unit];                                                   \
        for (r = 0; r < z->rank; ++r) {                                                           \
          int32_t newest = 0;                                                                     \
          for (i = 0; i < z->in_n; ++i) {                                                         \
            newest += feature[i] * (input[i] - z->input_zero_point);                              \
          }                                                                                       \
          newest = memopt_requantize(newest, z->feature_multiplier, z->feature_shift);            \
          newest = memopt_clamp(newest, low, high) + z->state_zero_point;                         \
          newest += newest > (high) ? (low) - (high)-1 : newest < (low) ? (high) - (low) + 1 : 0; \
          for (i = 0; i < z->memory; ++i) {                                                       \
            state[i] = i + 1 < z->memory ? state[i + 1] : (type)newest;                           \
            sum += (uint32_t)((state[i] - z->state_zero_point) * weights[i]);                     \
          }                                                                                       \
          feature += z->in_n;                                                                     \
          weights += z->memory;                                                                   \
          state += z->memory;                                                                     \
        }                                                                                         \
        output[unit] = (int8_t)memopt_clamp(                                                      \
            memopt_requantize((int32_t)sum, z->time_multiplier, z->time_shift) +                  \
                z->output_zero_point,                                                             \
            -128, 127);                                                                           \
      }                                                                                           \
      input += z->in_n;                                                                           \
      output += z->units;                                                                         \
    }                                                                                             \
  } while (0)

#endif
