/* SOFTMAX over the last axis, float32. A row is one vector. */
#ifndef MEMOPT_SOFTMAX_F32_H
#define MEMOPT_SOFTMAX_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t depth;
  float beta;
} memopt_softmax_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_softmax_f32(const memopt_softmax_f32_params *p, const memopt_rows *rows,
                                      const float *input, float *output);

#endif
