/* TANH, float32. */
#ifndef MEMOPT_TANH_F32_H
#define MEMOPT_TANH_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_tanh_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_tanh_f32(const memopt_tanh_f32_params *p, const memopt_rows *rows,
                                   const float *input, float *output);

#endif
