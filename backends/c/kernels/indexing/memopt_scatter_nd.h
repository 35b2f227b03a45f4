/* SCATTER_ND: the walk over places. Operands are indices, of 32 or 64 bits, and what is added; what
 * has an index that there is not is left out. */
#ifndef MEMOPT_SCATTER_ND_H
#define MEMOPT_SCATTER_ND_H

#include "memopt_common.h"

/* `sum` of each element x of the result, zero at first, and each y that comes to it; p is the
 * kernel's parameters. */
#define MEMOPT_SCATTER_ND(type, p, sum)                                  \
  do {                                                                   \
    const type *from = (const type *)in[1];                              \
    type *const output = (type *)out;                                    \
    int32_t i, k, n;                                                     \
    for (n = 0; n < (p)->size; ++n) {                                    \
      output[n] = 0;                                                     \
    }                                                                    \
    for (i = 0; i < (p)->count; ++i) {                                   \
      type *to = output;                                                 \
      int32_t there = 1;                                                 \
      for (k = 0; k < (p)->depth; ++k) {                                 \
        const int32_t number = i * (p)->depth + k;                       \
        const int64_t at = (p)->wide ? ((const int64_t *)in[0])[number]  \
                                     : ((const int32_t *)in[0])[number]; \
        there = there && at >= 0 && at < (p)->limit[k];                  \
        to += there ? (int32_t)at * (p)->step[k] * (p)->piece : 0;       \
      }                                                                  \
      for (n = 0; there && n < (p)->piece; ++n) {                        \
        const type x = to[n], y = from[n];                               \
        to[n] = (sum);                                                   \
      }                                                                  \
      from += (p)->piece;                                                \
    }                                                                    \
  } while (0)

#endif
