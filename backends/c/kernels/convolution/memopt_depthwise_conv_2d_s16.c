/* DEPTHWISE_CONV_2D, int16 with int8 weights, NHWC, any depth multiplier. */
#include "memopt_wide_sum_s16.h"

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
MEMOPT_KERNEL void memopt_depthwise_conv_2d_s16(const void *params, const memopt_rows *rows,
                                                const void *const *in, void *out, void *scratch) {
  const memopt_depthwise_conv_2d_s16_params *p = params;
  const int32_t out_c = p->in_c * p->depth_multiplier;
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int16_t *restrict output = memopt_out_row(rows, out, oy);
    int32_t ky_begin, ky_end, ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &ky_begin, &ky_end);
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      int32_t kx_begin, kx_end, oc;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &kx_begin, &kx_end);
      for (oc = 0; oc < out_c; ++oc) {
        int64_t acc = p->sums.bias[oc];
        int32_t ky, kx;
        for (ky = ky_begin; ky < ky_end; ++ky) {
          const int16_t *row = memopt_in_row(rows, in, 0, iy + ky * p->dilation_h);
          const int8_t *w = p->sums.weights + (ky * p->k_w + kx_begin) * out_c + oc;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            acc += row[(ix + kx * p->dilation_w) * p->in_c + oc / p->depth_multiplier] * *w;
            w += out_c;
          }
        }
        *output++ = memopt_stored_s16(&p->sums, acc, oc);
      }
    }
  }
}
