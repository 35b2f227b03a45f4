/* DEPTHWISE_CONV_2D, int16 with int8 weights, NHWC, any depth multiplier. */
#include "memopt_wide_sum_s16.h"
#include "memopt_windows.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  memopt_wide_sum_s16 sums; /* weights [k_h][k_w][out_c] */
} memopt_depthwise_conv_2d_s16_params;

MEMOPT_FAST
KERNEL {
  const int32_t out_c = p->in_c * p->depth_multiplier;
  (void)scratch;
  MEMOPT_WINDOWS(int16_t, p, out_c, {
    int64_t acc = p->sums.bias[oc];
    MEMOPT_DEPTHWISE_TAPS(int16_t, int8_t, p, out_c, p->sums.weights,
                          memopt_in_row(rows, in, 0, y), acc += x * w);
    *output = memopt_stored_s16(&p->sums, acc, oc);
  });
}
