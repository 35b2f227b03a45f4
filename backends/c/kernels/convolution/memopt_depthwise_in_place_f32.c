/* DEPTHWISE_CONV_2D over its operand, float32, NHWC, weights [1][k_h][k_w][in_c], a filter to a
 * channel. What is padded adds nothing, in the order of memopt_depthwise_conv_2d_f32.c.
 */
#include "memopt_depthwise_in_place.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t span; /* from the first row under a window to the last */
  float act_min, act_max;
  const float *weights; /* [k_h][k_w][in_c] */
  const float *bias;    /* [in_c] */
} memopt_depthwise_in_place_f32_params;

/* The element of one window of one channel. */
static inline float depthwise_in_place_f32(const memopt_depthwise_in_place_f32_params *p,
                                           const memopt_kept_window *v, const float *kept,
                                           int32_t c) {
  float acc = 0.0f;
  MEMOPT_KEPT_SUM(float, p, v, kept, p->weights + c, acc, *x * *w);
  return memopt_clamp_f32(acc + p->bias[c], p->act_min, p->act_max);
}

MEMOPT_FAST
KERNEL {
  MEMOPT_DEPTHWISE_IN_PLACE(float, p, *output = depthwise_in_place_f32(p, &v, kept, c));
}
