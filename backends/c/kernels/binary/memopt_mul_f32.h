/* MUL, float32. Rows and steps as in memopt_add_s8.h. */
#ifndef MEMOPT_MUL_F32_H
#define MEMOPT_MUL_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_mul_f32_params;

MEMOPT_KERNEL void memopt_mul_f32(const memopt_mul_f32_params *p, const memopt_rows *rows,
                                  const float *a, const float *b, float *output);

#endif
