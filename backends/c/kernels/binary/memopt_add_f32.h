/* ADD, float32. Rows and steps as in memopt_add_s8.h. */
#ifndef MEMOPT_ADD_F32_H
#define MEMOPT_ADD_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
  int32_t a_step, b_step;         /* as in memopt_add_s8.h */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.h */
} memopt_add_f32_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_add_f32(const memopt_add_f32_params *p, const memopt_rows *rows,
                                  const float *a, const float *b, float *output);

#endif
