/* RELU, RELU6 and other ranges, float32. */
#ifndef MEMOPT_CLAMP_RANGE_F32_H
#define MEMOPT_CLAMP_RANGE_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
} memopt_clamp_range_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_clamp_range_f32(const memopt_clamp_range_f32_params *p,
                                          const memopt_rows *rows, const float *input,
                                          float *output);

#endif
