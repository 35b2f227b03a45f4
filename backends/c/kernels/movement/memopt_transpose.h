/* TRANSPOSE of up to four dimensions, for every size of elements. A row is an index of the first
 * two; where these stay in place it is made of the same row of the input. */
#ifndef MEMOPT_TRANSPOSE_H
#define MEMOPT_TRANSPOSE_H

#include "memopt_common.h"

/* p is the kernel's parameters. */
#define MEMOPT_TRANSPOSE(type, p)                                                                   \
  do {                                                                                              \
    int32_t row;                                                                                    \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                       \
      const int32_t outer = row / (p)->size[0];                                                     \
      const int32_t start = outer * (p)->stride[0] + (row - outer * (p)->size[0]) * (p)->stride[1]; \
      const type *input = (const type *)memopt_in_row(rows, in, 0, row);                            \
      type *restrict output = (type *)memopt_out_row(rows, out, row);                               \
      int32_t i, j;                                                                                 \
      for (i = 0; i < (p)->size[1]; ++i) {                                                          \
        for (j = 0; j < (p)->size[2]; ++j) {                                                        \
          output[i * (p)->size[2] + j] = input[start + i * (p)->stride[2] + j * (p)->stride[3]];    \
        }                                                                                           \
      }                                                                                             \
    }                                                                                               \
  } while (0)

#endif
