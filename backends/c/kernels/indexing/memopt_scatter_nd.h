/* SCATTER_ND. Operands are indices and what is added. */
#ifndef MEMOPT_SCATTER_ND_H
#define MEMOPT_SCATTER_ND_H

#include "memopt_scatter.h"

/* `sum` of each element x of the result, zero at first, and each y that comes to it; p is the
 * kernel's parameters. */
#define MEMOPT_SCATTER_ND(type, p, sum)                 \
  do {                                                  \
    int32_t element;                                    \
    for (element = 0; element < (p)->size; ++element) { \
      ((type *)out)[element] = 0;                       \
    }                                                   \
    MEMOPT_SCATTER(type, p, in[0], in[1], sum);         \
  } while (0)

#endif
