/* DEPTHWISE_CONV_2D of float32 with int8 weights, NHWC, weights [1][k_h][k_w][out_c], a scale for
 * each filter. The image is quantized first, into scratch. */
#include "memopt_hybrid.h"
#include "memopt_windows.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  int32_t symmetric;     /* 0 */
  const int8_t *weights; /* [k_h][k_w][out_c] */
  const float *scale;    /* [out_c] */
  const float *bias;     /* [out_c] */
} memopt_hybrid_depthwise_conv_2d_f32_params;

MEMOPT_FAST
KERNEL {
  const int32_t out_c = p->in_c * p->depth_multiplier;
  const int32_t row_n = p->in_w * p->in_c;
  const int8_t *const image = (const int8_t *)scratch;
  const memopt_steps steps = memopt_steps_of(rows, in, p->in_h, row_n, p->symmetric, scratch);
  MEMOPT_WINDOWS(float, p, out_c, {
    int32_t acc = 0;
    float value;
    MEMOPT_DEPTHWISE_TAPS(int8_t, int8_t, p, out_c, p->weights, image + y * row_n,
                          acc += (x - steps.zero_point) * w);
    value = (float)acc * (p->scale[oc] * steps.scale);
    *output = memopt_clamp_f32(value + p->bias[oc], p->act_min, p->act_max);
  });
}
