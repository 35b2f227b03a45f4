/* CONV_2D, uint8, NHWC, weights OHWI with a zero point of their own (TensorFlow Lite,
 * reference/conv.h: both zero points are taken off where elements are multiplied, so padding adds
 * nothing).
 */
#include "memopt_windows.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c / groups */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t weights_zero_point;
  const uint8_t *weights;    /* [out_c][k_h][k_w][k_c] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_conv_2d_u8_params;

MEMOPT_FAST
KERNEL {
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  (void)scratch;
  MEMOPT_WINDOWS(uint8_t, p, p->out_c, {
    int32_t acc = p->bias[oc];
    MEMOPT_DENSE_TAPS(uint8_t, uint8_t, p, per_group, p->weights, memopt_in_row(rows, in, 0, y),
                      acc += (x - p->input_zero_point) * (w - p->weights_zero_point));
    acc = memopt_requantize(acc, p->multiplier[oc], p->shift[oc]) + p->output_zero_point;
    *output = (uint8_t)memopt_clamp(acc, p->act_min, p->act_max);
  });
}
