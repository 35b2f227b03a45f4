/* DEPTHWISE_CONV_2D over its operand, uint8, NHWC, weights [1][k_h][k_w][in_c] with a zero point of
 * their own, a filter to a channel. Zero points as in memopt_conv_2d_u8.c.
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
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t weights_zero_point;
  const uint8_t *weights;    /* [k_h][k_w][in_c] */
  const int32_t *bias;       /* [in_c] */
  const int32_t *multiplier; /* [in_c] */
  const int8_t *shift;       /* [in_c], as memopt_requantize takes it */
} memopt_depthwise_in_place_u8_params;

/* The element of one window of one channel. */
static inline uint8_t depthwise_in_place_u8(const memopt_depthwise_in_place_u8_params *p,
                                            const memopt_kept_window *v, const uint8_t *kept,
                                            int32_t c) {
  int32_t acc = p->bias[c];
  MEMOPT_KEPT_SUM(uint8_t, p, v, kept, p->weights + c, acc,
                  (*x - p->input_zero_point) * (*w - p->weights_zero_point));
  acc = memopt_requantize(acc, p->multiplier[c], p->shift[c]) + p->output_zero_point;
  return (uint8_t)memopt_clamp(acc, p->act_min, p->act_max);
}

MEMOPT_FAST
KERNEL {
  MEMOPT_DEPTHWISE_IN_PLACE(uint8_t, p, *output = depthwise_in_place_u8(p, &v, kept, c));
}
