/* DEPTHWISE_CONV_2D, float32, NHWC, weights [1][k_h][k_w][out_c], any depth multiplier. */
#ifndef MEMOPT_DEPTHWISE_CONV_2D_F32_H
#define MEMOPT_DEPTHWISE_CONV_2D_F32_H

#include "memopt_common.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  const float *weights; /* [k_h][k_w][out_c] */
  const float *bias;    /* [out_c] */
} memopt_depthwise_conv_2d_f32_params;

MEMOPT_KERNEL void memopt_depthwise_conv_2d_f32(const memopt_depthwise_conv_2d_f32_params *p,
                                                const memopt_rows *rows, const float *input,
                                                float *restrict output);

#endif
