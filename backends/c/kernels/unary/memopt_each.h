/* Operators that make each element of the result of one of the operand, row by row. */
#ifndef MEMOPT_EACH_H
#define MEMOPT_EACH_H

#include "memopt_common.h"

/* `value` of each element x; p is the kernel's parameters, `output` may be `input`. */
#define MEMOPT_EACH(type, p, value) MEMOPT_EACH_TO(type, type, p, value)

/* The same of elements of another type, if they are no larger. */
#define MEMOPT_EACH_TO(from, to, p, value)                               \
  do {                                                                   \
    int32_t row;                                                         \
    (void)scratch;                                                       \
    for (row = rows->out_begin; row < rows->out_end; ++row) {            \
      const from *input = (const from *)memopt_in_row(rows, in, 0, row); \
      to *output = (to *)memopt_out_row(rows, out, row);                 \
      int32_t i;                                                         \
      for (i = 0; i < (p)->row_n; ++i) {                                 \
        const from x = input[i];                                         \
        output[i] = (value);                                             \
      }                                                                  \
    }                                                                    \
  } while (0)

#endif
