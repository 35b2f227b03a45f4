/* ScatterND of ONNX. Operands are the tensor, indices and what is written. */
#ifndef MEMOPT_SCATTER_UPDATE_H
#define MEMOPT_SCATTER_UPDATE_H

#include "memopt_scatter.h"

/* `value` of each element x of the tensor at a place and each y that comes to it; p is the kernel's
 * parameters. The result may lie where the tensor does. */
#define MEMOPT_SCATTER_UPDATE(type, p, value)                                    \
  do {                                                                           \
    const type *const source = (const type *)in[0];                              \
    int32_t element;                                                             \
    for (element = 0; source != (type *)out && element < (p)->size; ++element) { \
      ((type *)out)[element] = source[element];                                  \
    }                                                                            \
    MEMOPT_SCATTER(type, p, in[1], in[2], value);                                \
  } while (0)

/* What a reduction (0: sum, 1: product, 2: larger, 3: smaller) makes of x and y; sum and product are
 * computed as `wide`. */
#define MEMOPT_REDUCED(wide, p, x, y)                          \
  ((p)->reduction == 0   ? (wide)(x) + (wide)(y)               \
   : (p)->reduction == 1 ? (wide)(x) * (wide)(y)               \
   : ((p)->reduction == 2) == ((x) > (y)) ? (wide)(x)          \
                                          : (wide)(y))

#endif
