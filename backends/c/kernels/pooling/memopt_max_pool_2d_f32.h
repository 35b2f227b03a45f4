/* MAX_POOL_2D, float32, NHWC. */
#ifndef MEMOPT_MAX_POOL_2D_F32_H
#define MEMOPT_MAX_POOL_2D_F32_H

#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  float act_min, act_max;
} memopt_max_pool_2d_f32_params;

MEMOPT_KERNEL void memopt_max_pool_2d_f32(const memopt_max_pool_2d_f32_params *p,
                                      const memopt_rows *rows, const float *input,
                                      float *restrict output);

#endif
