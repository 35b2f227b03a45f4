/* BATCH_MATMUL: the walk over the matrices, for elements of every type. */
#ifndef MEMOPT_BATCH_MATMUL_H
#define MEMOPT_BATCH_MATMUL_H

#include "memopt_common.h"

/* p is the kernel's parameters; `product` is that of the elements at x and y, and `value` is made of the
 * sum. */
#define MEMOPT_BATCH_MATMUL(type, total, p, product, value)                                  \
  MEMOPT_BATCH_MATMUL_BY(type, type, total, p, product, value)

/* The same, with other elements on the right. */
#define MEMOPT_BATCH_MATMUL_BY(type, right, total, p, product, value)         \
  do {                                                                        \
    const type *const a = (const type *)in[0];                                \
    const right *const b = (const right *)in[1];                              \
    type *output = (type *)out;                                               \
    int32_t batch, row, column, k;                                            \
    (void)rows;                                                               \
    (void)scratch;                                                            \
    for (batch = 0; batch < (p)->batches; ++batch) {                          \
      for (row = 0; row < (p)->rows_n; ++row) {                               \
        for (column = 0; column < (p)->columns; ++column) {                   \
          const type *x = a + batch * (p)->a_batch + row * (p)->a_row;        \
          const right *y = b + batch * (p)->b_batch + column * (p)->b_column; \
          total sum = 0;                                                      \
          for (k = 0; k < (p)->depth; ++k) {                                  \
            sum += (product);                                                 \
            x += (p)->a_depth;                                                \
            y += (p)->b_depth;                                                \
          }                                                                   \
          *output++ = (value);                                                \
        }                                                                     \
      }                                                                       \
    }                                                                         \
  } while (0)

#endif
