#include "memopt_depthwise_conv_2d_f32.h"

/* The taps of one output pixel that fall inside the input. */
typedef struct {
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  const float *x;       /* channel 0 at tap (ky_begin, kx_begin) */
  int32_t x_row, x_col; /* elements between two taps in the input */
  int32_t w_row, out_c; /* weights between two kernel rows, two taps */
} depthwise_f32_window;

/* x_channel is 1 if each of the four has an input channel of its own, 0 if they share it. */
static inline void depthwise_f32_four(const memopt_depthwise_conv_2d_f32_params *p,
                                      const depthwise_f32_window *v, int32_t oc, const float *x,
                                      const int32_t x_channel, float *out) {
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  float a0 = 0.0f;
  float a1 = 0.0f;
  float a2 = 0.0f;
  float a3 = 0.0f;
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    const float *xt = x;
    const float *wt = w;
    int32_t n;
    for (n = v->kx_end - v->kx_begin; n > 0; --n) {
      a0 += xt[0] * wt[0];
      a1 += xt[x_channel] * wt[1];
      a2 += xt[2 * x_channel] * wt[2];
      a3 += xt[3 * x_channel] * wt[3];
      xt += v->x_col;
      wt += v->out_c;
    }
    x += v->x_row;
    w += v->w_row;
  }
  out[oc] = memopt_clamp_f32(a0 + p->bias[oc], p->act_min, p->act_max);
  out[oc + 1] = memopt_clamp_f32(a1 + p->bias[oc + 1], p->act_min, p->act_max);
  out[oc + 2] = memopt_clamp_f32(a2 + p->bias[oc + 2], p->act_min, p->act_max);
  out[oc + 3] = memopt_clamp_f32(a3 + p->bias[oc + 3], p->act_min, p->act_max);
}

static void depthwise_f32_one(const memopt_depthwise_conv_2d_f32_params *p,
                              const depthwise_f32_window *v, int32_t oc, const float *x,
                              float *out) {
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  float acc = 0.0f;
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    const float *xt = x;
    const float *wt = w;
    int32_t n;
    for (n = v->kx_end - v->kx_begin; n > 0; --n) {
      acc += *xt * *wt;
      xt += v->x_col;
      wt += v->out_c;
    }
    x += v->x_row;
    w += v->w_row;
  }
  out[oc] = memopt_clamp_f32(acc + p->bias[oc], p->act_min, p->act_max);
}

static void depthwise_f32_pixel(const memopt_depthwise_conv_2d_f32_params *p,
                                const depthwise_f32_window *v, float *out) {
  int32_t ic;
  int32_t oc = 0;
  if (p->depth_multiplier == 1) {
    for (; oc + 4 <= v->out_c; oc += 4) {
      depthwise_f32_four(p, v, oc, v->x + oc, 1, out);
    }
    for (; oc < v->out_c; ++oc) {
      depthwise_f32_one(p, v, oc, v->x + oc, out);
    }
    return;
  }
  for (ic = 0; ic < p->in_c; ++ic) {
    const int32_t end = oc + p->depth_multiplier;
    for (; oc + 4 <= end; oc += 4) {
      depthwise_f32_four(p, v, oc, v->x + ic, 0, out);
    }
    for (; oc < end; ++oc) {
      depthwise_f32_one(p, v, oc, v->x + ic, out);
    }
  }
}

MEMOPT_KERNEL void memopt_depthwise_conv_2d_f32(const memopt_depthwise_conv_2d_f32_params *p,
                                                const memopt_rows *rows, const float *input,
                                                float *restrict output) {
  depthwise_f32_window v;
  int32_t oy;
  v.out_c = p->in_c * p->depth_multiplier;
  v.w_row = p->k_w * v.out_c;
  v.x_row = p->dilation_h * rows->in_stride;
  v.x_col = p->dilation_w * p->in_c;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *out = output;
    int32_t ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.x = input;
      if (v.ky_begin < v.ky_end && v.kx_begin < v.kx_end) {
        v.x += (iy + v.ky_begin * p->dilation_h - rows->in_first) * rows->in_stride +
               (ix + v.kx_begin * p->dilation_w) * p->in_c;
      }
      depthwise_f32_pixel(p, &v, out);
      out += v.out_c;
    }
    output += rows->out_stride;
  }
}
