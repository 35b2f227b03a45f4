/* TRANSPOSE of up to four dimensions, int8. A row is an index of the first two. */
#ifndef MEMOPT_TRANSPOSE_S8_H
#define MEMOPT_TRANSPOSE_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t size[3];   /* of dimensions 1 to 3 of the output */
  int32_t stride[4]; /* input elements for one step in each dimension of the output */
} memopt_transpose_s8_params;

MEMOPT_KERNEL void memopt_transpose_s8(const memopt_transpose_s8_params *p,
                                       const memopt_rows *rows, const int8_t *input,
                                       int8_t *restrict output);

#endif
