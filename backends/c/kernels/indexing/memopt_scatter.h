/* The walk over places of SCATTER_ND and of ONNX's ScatterND. Indices are of 32 or 64 bits; what
 * has an index that there is not is left out. */
#ifndef MEMOPT_SCATTER_H
#define MEMOPT_SCATTER_H

#include "memopt_index.h"

/* `value` of each element x of `out` at a place and each y of `updates` that comes to it; p is the
 * kernel's parameters. */
#define MEMOPT_SCATTER(type, p, indices, updates, value)                            \
  do {                                                                              \
    const type *from = (const type *)(updates);                                     \
    int32_t i, k, n;                                                                \
    for (i = 0; i < (p)->count; ++i) {                                              \
      type *to = (type *)out;                                                       \
      int32_t there = 1;                                                            \
      for (k = 0; k < (p)->depth; ++k) {                                            \
        const int32_t number = i * (p)->depth + k;                                  \
        const int64_t at = memopt_place(indices, number, (p)->form, (p)->limit[k]); \
        there = there && at >= 0 && at < (p)->limit[k];                             \
        to += there ? (int32_t)at * (p)->step[k] * (p)->piece : 0;                  \
      }                                                                             \
      for (n = 0; there && n < (p)->piece; ++n) {                                   \
        const type x = to[n], y = from[n];                                          \
        to[n] = (type)(value);                                                      \
      }                                                                             \
      from += (p)->piece;                                                           \
    }                                                                               \
  } while (0)

#endif
