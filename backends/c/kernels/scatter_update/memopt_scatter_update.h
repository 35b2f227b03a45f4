/* ScatterND of ONNX: the walk over places. Operands are the tensor, indices, of 32 or 64 bits, and
 * what is written; what has an index that there is not is left out. */
#ifndef MEMOPT_SCATTER_UPDATE_H
#define MEMOPT_SCATTER_UPDATE_H

#include "memopt_common.h"

/* `value` of each element x of the tensor at a place and each y that comes to it; p is the kernel's
 * parameters. The result may lie where the tensor does. */
#define MEMOPT_SCATTER_UPDATE(type, p, value)                            \
  do {                                                                   \
    const type *const source = (const type *)in[0];                      \
    const type *from = (const type *)in[2];                              \
    type *const output = (type *)out;                                    \
    int32_t i, k, n;                                                     \
    for (n = 0; source != output && n < (p)->size; ++n) {                \
      output[n] = source[n];                                             \
    }                                                                    \
    for (i = 0; i < (p)->count; ++i) {                                   \
      type *to = output;                                                 \
      int32_t there = 1;                                                 \
      for (k = 0; k < (p)->depth; ++k) {                                 \
        const int32_t number = i * (p)->depth + k;                       \
        const int64_t at = (p)->wide ? ((const int64_t *)in[1])[number]  \
                                     : ((const int32_t *)in[1])[number]; \
        there = there && at >= 0 && at < (p)->limit[k];                  \
        to += there ? (int32_t)at * (p)->step[k] * (p)->piece : 0;       \
      }                                                                  \
      for (n = 0; there && n < (p)->piece; ++n) {                        \
        const type x = to[n], y = from[n];                               \
        to[n] = (type)(value);                                           \
      }                                                                  \
      from += (p)->piece;                                                \
    }                                                                    \
  } while (0)

/* What a reduction (0: sum, 1: product, 2: larger, 3: smaller) makes of x and y; sum and product are
 * computed as `wide`. */
#define MEMOPT_REDUCED(wide, p, x, y)                          \
  ((p)->reduction == 0   ? (wide)(x) + (wide)(y)               \
   : (p)->reduction == 1 ? (wide)(x) * (wide)(y)               \
   : ((p)->reduction == 2) == ((x) > (y)) ? (wide)(x)          \
                                          : (wide)(y))

#endif
