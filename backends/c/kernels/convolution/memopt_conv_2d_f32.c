#include "memopt_conv_2d_f32.h"

#include "memopt_dot_f32.h"

/* The taps of a window that fall inside the input, and its walk through memory. */
typedef struct {
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t x_row, x_run; /* elements between two kernel rows, two runs in the input */
  int32_t w_row;        /* weights in one kernel row */
  int32_t runs, run;    /* contiguous stretches in one kernel row; elements in each */
} conv_2d_f32_window;

/* Weights from the first tap inside; x at the same tap; x1 is the next pixel, or x itself. */
static inline void conv_2d_f32_block(const conv_2d_f32_window *v, const float *x0, const float *x1,
                                     const float *w0, const float *w1, float acc[4]) {
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    int32_t r;
    for (r = 0; r < v->runs; ++r) {
      const int32_t xo = r * v->x_run;
      const int32_t wo = r * v->run;
      if (x0 == x1) {
        memopt_dot_1x2_f32(x0 + xo, w0 + wo, w1 + wo, v->run, acc);
      } else {
        memopt_dot_2x2_f32(x0 + xo, x1 + xo, w0 + wo, w1 + wo, v->run, acc);
      }
    }
    x0 += v->x_row;
    x1 += v->x_row;
    w0 += v->w_row;
    w1 += v->w_row;
  }
}

/* One pixel, or two neighbours with the same taps inside (out1 is null for one). */
static void conv_2d_f32_pixels(const memopt_conv_2d_f32_params *p, const conv_2d_f32_window *v,
                               const float *x, float *out0, float *out1) {
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  const int32_t filter = p->k_h * v->w_row;
  const float *x1 = out1 ? x + p->stride_w * p->in_c : x;
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * p->k_c;
  int32_t group_end = per_group;
  int32_t oc = 0;
  while (oc < p->out_c) {
    const int32_t two = oc + 1 < group_end;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    conv_2d_f32_block(v, x, x1, w, two ? w + filter : w, acc);
    out0[oc] = memopt_clamp_f32(acc[0] + p->bias[oc], p->act_min, p->act_max);
    if (two) {
      out0[oc + 1] = memopt_clamp_f32(acc[1] + p->bias[oc + 1], p->act_min, p->act_max);
    }
    if (out1) {
      out1[oc] = memopt_clamp_f32(acc[2] + p->bias[oc], p->act_min, p->act_max);
      if (two) {
        out1[oc + 1] = memopt_clamp_f32(acc[3] + p->bias[oc + 1], p->act_min, p->act_max);
      }
    }
    oc += two ? 2 : 1;
    w += two ? 2 * filter : filter;
    if (oc == group_end) {
      group_end += per_group;
      x += p->k_c;
      x1 += p->k_c;
    }
  }
}

MEMOPT_KERNEL void memopt_conv_2d_f32(const memopt_conv_2d_f32_params *p, const memopt_rows *rows,
                                      const float *input, float *restrict output) {
  const int32_t dense = p->dilation_w == 1 && p->k_c == p->in_c;
  conv_2d_f32_window v;
  int32_t oy;
  v.x_row = p->dilation_h * rows->in_stride;
  v.x_run = p->dilation_w * p->in_c;
  v.w_row = p->k_w * p->k_c;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *out = output;
    int32_t ox = 0;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    while (ox < p->out_w) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t next_end = ix + p->stride_w + (p->k_w - 1) * p->dilation_w;
      const float *x = input;
      int32_t two;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      two = v.kx_begin == 0 && ox + 1 < p->out_w && next_end < p->in_w;
      v.runs = dense ? 1 : v.kx_end - v.kx_begin;
      v.run = dense ? (v.kx_end - v.kx_begin) * p->k_c : p->k_c;
      if (v.ky_begin < v.ky_end && v.kx_begin < v.kx_end) {
        x += (iy + v.ky_begin * p->dilation_h - rows->in_first) * rows->in_stride +
             (ix + v.kx_begin * p->dilation_w) * p->in_c;
      }
      conv_2d_f32_pixels(p, &v, x, out, two ? out + p->out_c : 0);
      out += two ? 2 * p->out_c : p->out_c;
      ox += two ? 2 : 1;
    }
    output += rows->out_stride;
  }
}
