/* Normalization of groups of channels of an image by their mean and variance, in float32, step by
 * step, times a scale and plus a shift of each channel. */
#ifndef MEMOPT_GROUP_NORMALIZATION_H
#define MEMOPT_GROUP_NORMALIZATION_H

#include "memopt_common.h"

#include <math.h>

/* A kernel, a row of the image at a time: by its parameters p, `real` makes a number of an element,
 * and `stored` an element of a result. `output` may be `input`. */
#define MEMOPT_GROUP_NORMALIZATION(type, real, stored, p)                                          \
  do {                                                                                             \
    const int32_t channels = p->groups * p->each;                                                  \
    const float *const means = (const float *)in[1];                                               \
    int32_t row;                                                                                   \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                      \
      const type *input = (const type *)memopt_in_row(rows, in, 0, row);                           \
      type *output = (type *)memopt_out_row(rows, out, row);                                       \
      const float *scale = p->scale ? p->scale : p->terms > 0 ? (const float *)in[2] : 0;          \
      const float *shift = p->shift ? p->shift : p->terms > 1 ? (const float *)in[3] : 0;          \
      int32_t c;                                                                                   \
      for (c = 0; c < channels; ++c) {                                                             \
        const int32_t g = c / p->each;                                                             \
        const float mean = means[g], factor = 1.0f / sqrtf(means[p->groups + g] + p->epsilon);     \
        const float times = scale ? scale[c] : 1.0f, plus = shift ? shift[c] : -0.0f;              \
        int32_t i;                                                                                 \
        for (i = 0; i < p->width; ++i) {                                                           \
          const float value = (real(p, input[i * channels + c]) - mean) * factor * times + plus;   \
          output[i * channels + c] = stored(p, memopt_clamp_f32(value, p->act_min, p->act_max));   \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  } while (0)

#endif
