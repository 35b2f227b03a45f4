/* TRANSPOSE of up to four dimensions, for every size of elements. A row is an index of the first
 * two; where these stay in place it is made of the same row of the input. */
#ifndef MEMOPT_TRANSPOSE_H
#define MEMOPT_TRANSPOSE_H

#include "memopt_common.h"

/* `n` elements, every `from_step`th of `from` into every `to_step`th of `to`. */
#define MEMOPT_STRIDED(type, from, from_step, to, to_step, n) \
  do {                                                        \
    const type *source = (from);                              \
    type *restrict target = (to);                             \
    int32_t ahead = (n);                                      \
    for (; ahead >= 2; ahead -= 2) {                          \
      target[0] = source[0];                                  \
      target[to_step] = source[from_step];                    \
      source += 2 * (from_step);                              \
      target += 2 * (to_step);                                \
    }                                                         \
    if (ahead > 0) {                                          \
      *target = *source;                                      \
    }                                                         \
  } while (0)

/* p is the kernel's parameters. The longer one of two dimensions is the inner loop. */
#define MEMOPT_TRANSPOSE(type, p)                                                             \
  do {                                                                                        \
    const int32_t height = (p)->size[1], width = (p)->size[2]; /* no store can change them */ \
    const int32_t down = (p)->stride[2], right = (p)->stride[3];                              \
    int32_t row;                                                                              \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                 \
      const int32_t outer = row / (p)->size[0];                                               \
      const int32_t inner = row - outer * (p)->size[0];                                       \
      const type *input = (const type *)memopt_in_row(rows, in, 0, row);                      \
      type *output = (type *)memopt_out_row(rows, out, row);                                  \
      int32_t i;                                                                              \
      input += outer * (p)->stride[0] + inner * (p)->stride[1];                               \
      if (width >= height) {                                                                  \
        for (i = 0; i < height; ++i) {                                                        \
          MEMOPT_STRIDED(type, input + i * down, right, output + i * width, 1, width);        \
        }                                                                                     \
      } else {                                                                                \
        for (i = 0; i < width; ++i) {                                                         \
          MEMOPT_STRIDED(type, input + i * right, down, output + i, width, height);           \
        }                                                                                     \
      }                                                                                       \
    }                                                                                         \
  } while (0)

#endif
