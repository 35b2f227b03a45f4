/* ADD_N: all operands, element by element, of every type. */
#ifndef MEMOPT_ADD_N_H
#define MEMOPT_ADD_N_H

#include "memopt_common.h"

/* What each `total` is stored as, `value`: a `number` that begins with `none`, to which `more` is added
 * of the element x of each operand. p is the kernel's parameters. */
#define MEMOPT_ADD_N(type, number, none, p, more, value) \
  do {                                                   \
    type *output = (type *)out;                          \
    int32_t i;                                           \
    (void)rows;                                          \
    (void)scratch;                                       \
    for (i = 0; i < (p)->row_n; ++i) {                   \
      number total = (none);                             \
      int32_t k;                                         \
      for (k = 0; k < (p)->operands; ++k) {              \
        const type x = ((const type *)in[k])[i];         \
        total += (more);                                 \
      }                                                  \
      output[i] = (type)(value);                         \
    }                                                    \
  } while (0)

#endif
