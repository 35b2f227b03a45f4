/* DEPTHWISE_CONV_2D of float32 with int8 weights, NHWC, weights [1][k_h][k_w][out_c], a scale for
 * each filter. The image is quantized first, into scratch. */
#include "memopt_hybrid.h"

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
MEMOPT_KERNEL void memopt_hybrid_depthwise_conv_2d_f32(const void *params, const memopt_rows *rows,
                                                       const void *const *in, void *out,
                                                       void *scratch) {
  const memopt_hybrid_depthwise_conv_2d_f32_params *p = params;
  const int32_t out_c = p->in_c * p->depth_multiplier;
  const int32_t row_n = p->in_w * p->in_c;
  const int8_t *const image = scratch;
  const memopt_steps steps = memopt_steps_of(rows, in, p->in_h, row_n, p->symmetric, scratch);
  int32_t oy;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *output = memopt_out_row(rows, out, oy);
    int32_t ky_begin;
    int32_t ky_end;
    int32_t ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &ky_begin, &ky_end);
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      int32_t kx_begin;
      int32_t kx_end;
      int32_t oc;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &kx_begin, &kx_end);
      for (oc = 0; oc < out_c; ++oc) {
        const int32_t channel = oc / p->depth_multiplier;
        int32_t acc = 0;
        float value;
        int32_t ky;
        for (ky = ky_begin; ky < ky_end; ++ky) {
          const int8_t *row = image + (iy + ky * p->dilation_h) * row_n + channel;
          const int8_t *w = p->weights + (ky * p->k_w + kx_begin) * out_c + oc;
          int32_t kx;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            acc += (row[(ix + kx * p->dilation_w) * p->in_c] - steps.zero_point) * *w;
            w += out_c;
          }
        }
        value = (float)acc * (p->scale[oc] * steps.scale);
        *output++ = memopt_clamp_f32(value + p->bias[oc], p->act_min, p->act_max);
      }
    }
  }
}
