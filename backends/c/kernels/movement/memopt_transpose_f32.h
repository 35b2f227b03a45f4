/* TRANSPOSE of up to four dimensions, float32. A row is an index of the first two. */
#ifndef MEMOPT_TRANSPOSE_F32_H
#define MEMOPT_TRANSPOSE_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t size[3];   /* of dimensions 1 to 3 of the output */
  int32_t stride[4]; /* input elements for one step in each dimension of the output */
} memopt_transpose_f32_params;

MEMOPT_KERNEL void memopt_transpose_f32(const memopt_transpose_f32_params *p,
                                        const memopt_rows *rows, const float *input,
                                        float *restrict output);

#endif
