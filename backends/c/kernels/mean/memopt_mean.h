/* MEAN of stored integers over neighbouring axes: [rows][count][inner] to [rows][inner]. */
#ifndef MEMOPT_MEAN_H
#define MEMOPT_MEAN_H

#include "memopt_common.h"

/* The walk, for every type. p is the kernel's parameters; `mean` makes an element of p and a sum,
 * which begins with minus `count` times the input's zero point. */
#define MEMOPT_MEAN(type, mean, p)                                       \
  do {                                                                   \
    const memopt_part part = memopt_part_of(rows, in, (p)->parts);       \
    const int32_t *const before = (const int32_t *)part.before;          \
    int32_t *const sums = (int32_t *)out;                                \
    int32_t row;                                                         \
    for (row = rows->out_begin; row < rows->out_end; ++row) {            \
      const type *input = (const type *)memopt_in_row(rows, in, 0, row); \
      type *restrict output = (type *)memopt_out_row(rows, out, row);    \
      int32_t i;                                                         \
      for (i = 0; i < (p)->inner; ++i) {                                 \
        const type *x = input + i;                                       \
        int32_t sum = before ? before[i] : -(p)->offset;                 \
        int32_t n;                                                       \
        for (n = (p)->count / part.calls; n > 0; --n) {                  \
          sum += *x;                                                     \
          x += (p)->inner;                                               \
        }                                                                \
        if (!part.last) {                                                \
          sums[i] = sum;                                                 \
          continue;                                                      \
        }                                                                \
        output[i] = mean(p, sum);                                        \
      }                                                                  \
    }                                                                    \
  } while (0)

/* A mean of integers of `type`, low .. high, as it is stored. */
#define MEMOPT_STORED_MEAN(type, low, high, p, sum)                                            \
  (type)memopt_clamp(                                                                          \
      memopt_requantize(sum, (p)->multiplier, (p)->shift) + (p)->output_zero_point, low, high)

#endif
