/* FULLY_CONNECTED, float32. A row is one sample. */
#ifndef MEMOPT_FULLY_CONNECTED_F32_H
#define MEMOPT_FULLY_CONNECTED_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t in_n, out_n;
  float act_min, act_max;
  const float *weights; /* [out_n][in_n] */
  const float *bias;    /* [out_n] */
} memopt_fully_connected_f32_params;

MEMOPT_KERNEL void memopt_fully_connected_f32(const memopt_fully_connected_f32_params *p,
                                              const memopt_rows *rows, const float *input,
                                              float *restrict output);

#endif
