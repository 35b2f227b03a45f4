/* LOGISTIC, float32: 1 / (1 + exp(-x)). */
#ifndef MEMOPT_LOGISTIC_F32_H
#define MEMOPT_LOGISTIC_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_logistic_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_logistic_f32(const memopt_logistic_f32_params *p,
                                       const memopt_rows *rows, const float *input, float *output);

#endif
