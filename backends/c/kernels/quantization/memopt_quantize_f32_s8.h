/* QUANTIZE, float32 to int8: round(x / scale) + zero point, ties away from zero, or to even. */
#ifndef MEMOPT_QUANTIZE_F32_S8_H
#define MEMOPT_QUANTIZE_F32_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
  int32_t ties_even; /* 1 as onnxruntime does, 0 as TensorFlow Lite */
} memopt_quantize_f32_s8_params;

MEMOPT_KERNEL void memopt_quantize_f32_s8(const memopt_quantize_f32_s8_params *p,
                                          const memopt_rows *rows, const float *input,
                                          int8_t *output);

#endif
