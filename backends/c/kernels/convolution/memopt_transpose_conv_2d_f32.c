/* TRANSPOSE_CONV, float32, NHWC, weights OHWI. */
#include "memopt_taps.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_c, group_out; /* channels of a group */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  const float *weights; /* [out_c][k_h][k_w][k_c] */
  const float *bias;    /* [out_c] */
} memopt_transpose_conv_2d_f32_params;

MEMOPT_FAST
KERNEL(scratch) {
  MEMOPT_TRANSPOSED(float, float, float, float, p, p->weights, 0.0f, sum += x * w,
                    memopt_clamp_f32(sum + p->bias[oc], p->act_min, p->act_max));
}
