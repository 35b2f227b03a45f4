/* A part of CONV_2D, float32, NHWC, weights OHWI: sums over some of the channels, which overwrite
 * what is there or are added to it. The last part has bias and activation of all.
 */
#include "memopt_common.h"
#include "memopt_dot_f32.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t adds; /* to what is there */
  float act_min, act_max;
  const float *weights; /* [out_c][k_h][k_w][k_c] */
  const float *bias;    /* [out_c] */
} memopt_conv_2d_sum_f32_params;

/* The taps of a window that fall inside the input, `step` of them side by side in a kernel row. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t iy, ix; /* where the window stands */
  int32_t step;
} conv_2d_sum_f32_window;

/* One pixel. */
MEMOPT_FAST
static MEMOPT_NOINLINE void conv_2d_sum_f32_pixel(const memopt_conv_2d_sum_f32_params *p,
                                                  const conv_2d_sum_f32_window *v, float *out) {
  const int32_t filter = p->k_h * p->k_w * p->k_c;
  const float *w = p->weights;
  int32_t oc;
  for (oc = 0; oc < p->out_c; oc += 4) {
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    const memopt_dots_f32 of = {acc, v->step * p->k_c, filter, p->out_c - 1 - oc, 0};
    int32_t ky, k;
    for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
      const float *row =
          (const float *)memopt_in_row(v->rows, v->in, 0, v->iy + ky * p->dilation_h);
      int32_t kx;
      for (kx = v->kx_begin; kx < v->kx_end; kx += v->step) {
        memopt_dot_1x4_f32(row + (v->ix + kx * p->dilation_w) * p->in_c,
                           w + (ky * p->k_w + kx) * p->k_c, &of, acc);
      }
    }
    for (k = 0; k < 4 && k <= of.last; ++k) {
      const float sum = p->adds ? out[oc + k] + acc[k] : acc[k];
      out[oc + k] = memopt_clamp_f32(sum + p->bias[oc + k], p->act_min, p->act_max);
    }
    w += 4 * filter;
  }
}

MEMOPT_FAST
KERNEL {
  conv_2d_sum_f32_window v;
  int32_t oy;
  v.rows = rows;
  v.in = in;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    float *output = (float *)memopt_out_row(rows, out, oy);
    int32_t ox;
    v.iy = oy * p->stride_h - p->pad_top;
    memopt_valid_taps(v.iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    for (ox = 0; ox < p->out_w; ++ox) {
      v.ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(v.ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.step = p->dilation_w == 1 ? v.kx_end - v.kx_begin : 1;
      conv_2d_sum_f32_pixel(p, &v, output);
      output += p->out_c;
    }
  }
}
