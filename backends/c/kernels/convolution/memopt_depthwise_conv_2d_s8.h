/* DEPTHWISE_CONV_2D, int8, NHWC, weights [1][k_h][k_w][out_c], any depth multiplier.
 *
 * `bias` is folded with the input's zero point as in memopt_conv_2d_s8.h.
 */
#ifndef MEMOPT_DEPTHWISE_CONV_2D_S8_H
#define MEMOPT_DEPTHWISE_CONV_2D_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int8_t *weights;     /* [k_h][k_w][out_c] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_depthwise_conv_2d_s8_params;

MEMOPT_KERNEL void memopt_depthwise_conv_2d_s8(const memopt_depthwise_conv_2d_s8_params *p,
                                               const memopt_rows *rows, const int8_t *input,
                                               int8_t *restrict output);

#endif
