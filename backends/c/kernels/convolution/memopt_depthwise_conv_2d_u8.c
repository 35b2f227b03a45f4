/* DEPTHWISE_CONV_2D, uint8, NHWC, weights [1][k_h][k_w][out_c] with a zero point of their own, any
 * depth multiplier. Zero points as in memopt_conv_2d_u8.c.
 */
#include "memopt_windows.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t weights_zero_point;
  const uint8_t *weights;    /* [k_h][k_w][out_c] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_depthwise_conv_2d_u8_params;

MEMOPT_FAST
KERNEL {
  const int32_t out_c = p->in_c * p->depth_multiplier;
  (void)scratch;
  MEMOPT_WINDOWS(uint8_t, p, out_c, {
    int32_t acc = p->bias[oc];
    MEMOPT_DEPTHWISE_TAPS(uint8_t, uint8_t, p, out_c, p->weights, memopt_in_row(rows, in, 0, y),
                          acc += (x - p->input_zero_point) * (w - p->weights_zero_point));
    acc = memopt_requantize(acc, p->multiplier[oc], p->shift[oc]) + p->output_zero_point;
    *output = (uint8_t)memopt_clamp(acc, p->act_min, p->act_max);
  });
}
