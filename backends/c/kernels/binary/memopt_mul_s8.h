/* MUL, int8. Rows and steps as in memopt_add_s8.h; shift as memopt_requantize takes it. */
#ifndef MEMOPT_MUL_S8_H
#define MEMOPT_MUL_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift;
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_mul_s8_params;

MEMOPT_KERNEL void memopt_mul_s8(const memopt_mul_s8_params *p, const memopt_rows *rows,
                                 const int8_t *a, const int8_t *b, int8_t *output);

#endif
