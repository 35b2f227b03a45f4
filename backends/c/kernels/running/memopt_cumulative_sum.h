/* CUMSUM: [rows][count][inner], along the second, of elements of every type. */
#ifndef MEMOPT_CUMULATIVE_SUM_H
#define MEMOPT_CUMULATIVE_SUM_H

#include "memopt_common.h"

/* What each `total` is stored as, `value`: a `number` that begins with `none`, to which `more` is added
 * of each element x. p is the kernel's parameters. */
#define MEMOPT_CUMULATIVE_SUM(type, number, none, p, more, value)           \
  do {                                                                      \
    const int32_t first = (p)->reverse ? ((p)->count - 1) * (p)->inner : 0; \
    const int32_t step = (p)->reverse ? -(p)->inner : (p)->inner;           \
    int32_t row;                                                            \
    (void)scratch;                                                          \
    for (row = rows->out_begin; row < rows->out_end; ++row) {               \
      const type *input = (const type *)memopt_in_row(rows, in, 0, row);    \
      type *output = (type *)memopt_out_row(rows, out, row);                \
      int32_t i;                                                            \
      for (i = 0; i < (p)->inner; ++i) {                                    \
        number total = (none);                                              \
        int32_t at = first + i;                                             \
        int32_t n;                                                          \
        for (n = 0; n < (p)->count; ++n) {                                  \
          const type x = input[at];                                         \
          if ((p)->exclusive) {                                             \
            output[at] = (type)(value);                                     \
          }                                                                 \
          total += (more);                                                  \
          if (!(p)->exclusive) {                                            \
            output[at] = (type)(value);                                     \
          }                                                                 \
          at += step;                                                       \
        }                                                                   \
      }                                                                     \
    }                                                                       \
  } while (0)

#endif
