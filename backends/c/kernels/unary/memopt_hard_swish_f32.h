/* HARD_SWISH, float32: x * clamp(x + 3, 0, 6) / 6. */
#ifndef MEMOPT_HARD_SWISH_F32_H
#define MEMOPT_HARD_SWISH_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_hard_swish_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_hard_swish_f32(const memopt_hard_swish_f32_params *p,
                                         const memopt_rows *rows, const float *input,
                                         float *output);

#endif
