/* DEQUANTIZE, int8 to float32. */
#ifndef MEMOPT_DEQUANTIZE_S8_F32_H
#define MEMOPT_DEQUANTIZE_S8_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
} memopt_dequantize_s8_f32_params;

MEMOPT_KERNEL void memopt_dequantize_s8_f32(const memopt_dequantize_s8_f32_params *p,
                                            const memopt_rows *rows, const int8_t *input,
                                            float *output);

#endif
