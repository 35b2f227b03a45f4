/* CONV_2D, uint8, NHWC, weights OHWI with a zero point of their own (TensorFlow Lite,
 * reference/conv.h: both zero points are taken off where elements are multiplied, so padding adds
 * nothing).
 */
#include "memopt_common.h"

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
MEMOPT_KERNEL void memopt_conv_2d_u8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_conv_2d_u8_params *p = params;
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    uint8_t *restrict output = memopt_out_row(rows, out, oy);
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
      for (oc = 0; oc < p->out_c; ++oc) {
        const int32_t first = oc / per_group * p->k_c; /* channel of the group */
        int32_t acc = p->bias[oc];
        int32_t ky;
        for (ky = ky_begin; ky < ky_end; ++ky) {
          const uint8_t *row = memopt_in_row(rows, in, 0, iy + ky * p->dilation_h);
          int32_t kx;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            const uint8_t *x = row + (ix + kx * p->dilation_w) * p->in_c + first;
            const uint8_t *w = p->weights + ((oc * p->k_h + ky) * p->k_w + kx) * p->k_c;
            int32_t n;
            for (n = 0; n < p->k_c; ++n) {
              acc += (x[n] - p->input_zero_point) * (w[n] - p->weights_zero_point);
            }
          }
        }
        acc = memopt_requantize(acc, p->multiplier[oc], p->shift[oc]) + p->output_zero_point;
        *output++ = (uint8_t)memopt_clamp(acc, p->act_min, p->act_max);
      }
    }
  }
}
