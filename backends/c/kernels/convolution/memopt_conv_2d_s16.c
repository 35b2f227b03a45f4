/* CONV_2D, int16 with int8 weights, NHWC, weights OHWI (TensorFlow Lite, integer_ops/conv.h). */
#include "memopt_wide_sum_s16.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c / groups */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  memopt_wide_sum_s16 sums; /* weights [out_c][k_h][k_w][k_c] */
} memopt_conv_2d_s16_params;

MEMOPT_FAST
MEMOPT_KERNEL void memopt_conv_2d_s16(const void *params, const memopt_rows *rows,
                                      const void *const *in, void *out, void *scratch) {
  const memopt_conv_2d_s16_params *p = params;
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
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
      for (oc = 0; oc < p->out_c; ++oc) {
        const int32_t first = oc / per_group * p->k_c; /* channel of the group */
        int64_t acc = p->sums.bias[oc];
        int32_t ky, kx, n;
        for (ky = ky_begin; ky < ky_end; ++ky) {
          const int16_t *row = memopt_in_row(rows, in, 0, iy + ky * p->dilation_h);
          for (kx = kx_begin; kx < kx_end; ++kx) {
            const int16_t *x = row + (ix + kx * p->dilation_w) * p->in_c + first;
            const int8_t *w = p->sums.weights + ((oc * p->k_h + ky) * p->k_w + kx) * p->k_c;
            for (n = 0; n < p->k_c; ++n) {
              acc += x[n] * w[n];
            }
          }
        }
        *output++ = memopt_stored_s16(&p->sums, acc, oc);
      }
    }
  }
}
