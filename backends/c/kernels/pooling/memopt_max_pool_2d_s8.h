/* MAX_POOL_2D, int8, NHWC. Input and output have the same quantization. */
#ifndef MEMOPT_MAX_POOL_2D_S8_H
#define MEMOPT_MAX_POOL_2D_S8_H

#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
} memopt_max_pool_2d_s8_params;

MEMOPT_KERNEL void memopt_max_pool_2d_s8(const memopt_max_pool_2d_s8_params *p,
                                     const memopt_rows *rows, const int8_t *input,
                                     int8_t *restrict output);

#endif
