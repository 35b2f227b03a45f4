/* MEAN over neighbouring axes, float32: [rows][count][inner] to [rows][inner]. */
#ifndef MEMOPT_MEAN_F32_H
#define MEMOPT_MEAN_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
} memopt_mean_f32_params;

MEMOPT_KERNEL void memopt_mean_f32(const memopt_mean_f32_params *p, const memopt_rows *rows,
                                   const float *input, float *restrict output);

#endif
