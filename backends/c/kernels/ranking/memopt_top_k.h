/* The largest numbers of a row, the largest first; of equal ones the first is first. */
#ifndef MEMOPT_TOP_K_H
#define MEMOPT_TOP_K_H

#include "memopt_common.h"

/* The next one is the largest of those that come behind the last one, of `least`, in that order. p
 * is the kernel's parameters; rows, in and out its arguments. A number that is none comes last. */
#define MEMOPT_TOP_K(type, p)                                                             \
  do {                                                                                    \
    int32_t row;                                                                          \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                             \
      const type *const x = (const type *)memopt_in_row(rows, in, 0, row);                \
      void *const output = memopt_out_row(rows, out, row);                                \
      type least = 0;                                                                     \
      int32_t last = -1;                                                                  \
      int32_t k;                                                                          \
      for (k = 0; k < (p)->kept; ++k) {                                                   \
        int32_t next = -1;                                                                \
        int32_t i;                                                                        \
        for (i = 0; i < (p)->length; ++i) {                                               \
          const int32_t behind = last < 0 || x[i] < least || (x[i] == least && i > last); \
          if (behind && (next < 0 || x[i] > x[next])) {                                   \
            next = i;                                                                     \
          }                                                                               \
        }                                                                                 \
        last = next < 0 ? 0 : next;                                                       \
        least = x[last];                                                                  \
        if ((p)->indices == 8) {                                                          \
          ((int64_t *)output)[k] = last;                                                  \
        } else if ((p)->indices) {                                                        \
          ((int32_t *)output)[k] = last;                                                  \
        } else {                                                                          \
          ((type *)output)[k] = least;                                                    \
        }                                                                                 \
      }                                                                                   \
    }                                                                                     \
  } while (0)

#endif
