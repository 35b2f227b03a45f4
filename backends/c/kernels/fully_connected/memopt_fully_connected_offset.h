/* FULLY_CONNECTED of bytes whose weights have a zero point of their own: the walk over rows and sums.
 */
#ifndef MEMOPT_FULLY_CONNECTED_OFFSET_H
#define MEMOPT_FULLY_CONNECTED_OFFSET_H

#include "memopt_common.h"

/* p is the kernel's parameters, rows, in and out its arguments; a row is one sample. `requantized` is
 * made of the sum `acc`, in steps of the result. */
#define MEMOPT_FULLY_CONNECTED_OFFSET(type, p, requantized)                                  \
  do {                                                                                       \
    const memopt_part part = memopt_part_of(rows, in, (p)->parts);                           \
    const int32_t *const start = part.before ? (const int32_t *)part.before : (p)->bias;     \
    const int32_t run = (p)->in_n / part.calls;                                              \
    const type *weights = (p)->weights + ((p)->parts > 0 ? rows->out_begin * run : 0);       \
    int32_t *const sums = (int32_t *)out;                                                    \
    int32_t row;                                                                             \
    (void)scratch;                                                                           \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                \
      const type *x = (const type *)memopt_in_row(rows, in, 0, row);                         \
      type *restrict output = (type *)memopt_out_row(rows, out, row);                        \
      int32_t o;                                                                             \
      for (o = 0; o < (p)->out_n; ++o) {                                                     \
        const type *w = weights + o * (p)->in_n;                                             \
        int32_t acc = start[o];                                                              \
        int32_t i;                                                                           \
        for (i = 0; i < run; ++i) {                                                          \
          acc += (x[i] - (p)->input_zero_point) * (w[i] - (p)->weights_zero_point);          \
        }                                                                                    \
        if (!part.last) {                                                                    \
          sums[o] = acc;                                                                     \
          continue;                                                                          \
        }                                                                                    \
        acc = (requantized) + (p)->output_zero_point;                                        \
        output[o] = (type)memopt_clamp(acc, (p)->act_min, (p)->act_max);                     \
      }                                                                                      \
    }                                                                                        \
  } while (0)

#endif
