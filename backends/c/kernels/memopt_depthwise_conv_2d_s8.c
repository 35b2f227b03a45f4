#include "memopt_depthwise_conv_2d_s8.h"

/* The taps of one output pixel that fall inside the input. */
typedef struct {
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t full;           /* no tap is padding */
  const int8_t *x;        /* channel 0 at tap (ky_begin, kx_begin) */
  int32_t x_row, x_col;   /* elements between two taps in the input */
  int32_t w_row, out_c;   /* weights between two kernel rows, two taps */
} depthwise_s8_window;

static inline int8_t depthwise_s8_finish(const memopt_depthwise_conv_2d_s8_params *p, int32_t oc,
                                         int32_t acc) {
  const int32_t value =
      memopt_requantize(acc, p->multiplier[oc], p->shift[oc]) + p->output_zero_point;
  return (int8_t)memopt_clamp(value, p->act_min, p->act_max);
}

/* zero_point * (the weights of the padded taps) of channel oc. */
static int32_t depthwise_s8_padding(const memopt_depthwise_conv_2d_s8_params *p,
                                    const depthwise_s8_window *v, int32_t oc) {
  const int8_t *w = p->weights + oc;
  int32_t sum = 0;
  int32_t ky;
  int32_t kx;
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t row_inside = ky >= v->ky_begin && ky < v->ky_end;
    for (kx = 0; kx < p->k_w; ++kx) {
      if (!row_inside || kx < v->kx_begin || kx >= v->kx_end) {
        sum += *w;
      }
      w += v->out_c;
    }
  }
  return sum * p->input_zero_point;
}

/* Four channels from oc; x_channel is 1 if each has an input channel of its own, 0 if they share it. */
static inline void depthwise_s8_four(const memopt_depthwise_conv_2d_s8_params *p,
                                     const depthwise_s8_window *v, int32_t oc, const int8_t *x,
                                     const int32_t x_channel, int8_t *out) {
  const int8_t *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  const int32_t columns = v->kx_end - v->kx_begin;
  int32_t a0 = p->bias[oc];
  int32_t a1 = p->bias[oc + 1];
  int32_t a2 = p->bias[oc + 2];
  int32_t a3 = p->bias[oc + 3];
  int32_t ky;
  if (!v->full) {
    a0 += depthwise_s8_padding(p, v, oc);
    a1 += depthwise_s8_padding(p, v, oc + 1);
    a2 += depthwise_s8_padding(p, v, oc + 2);
    a3 += depthwise_s8_padding(p, v, oc + 3);
  }
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    const int8_t *xt = x;
    const int8_t *wt = w;
    int32_t n;
    for (n = columns; n > 0; --n) {
      a0 += (int32_t)xt[0] * wt[0];
      a1 += (int32_t)xt[x_channel] * wt[1];
      a2 += (int32_t)xt[2 * x_channel] * wt[2];
      a3 += (int32_t)xt[3 * x_channel] * wt[3];
      xt += v->x_col;
      wt += v->out_c;
    }
    x += v->x_row;
    w += v->w_row;
  }
  out[oc] = depthwise_s8_finish(p, oc, a0);
  out[oc + 1] = depthwise_s8_finish(p, oc + 1, a1);
  out[oc + 2] = depthwise_s8_finish(p, oc + 2, a2);
  out[oc + 3] = depthwise_s8_finish(p, oc + 3, a3);
}

static void depthwise_s8_one(const memopt_depthwise_conv_2d_s8_params *p,
                             const depthwise_s8_window *v, int32_t oc, const int8_t *x,
                             int8_t *out) {
  const int8_t *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  int32_t acc = p->bias[oc];
  int32_t ky;
  if (!v->full) {
    acc += depthwise_s8_padding(p, v, oc);
  }
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    const int8_t *xt = x;
    const int8_t *wt = w;
    int32_t n;
    for (n = v->kx_end - v->kx_begin; n > 0; --n) {
      acc += (int32_t)*xt * *wt;
      xt += v->x_col;
      wt += v->out_c;
    }
    x += v->x_row;
    w += v->w_row;
  }
  out[oc] = depthwise_s8_finish(p, oc, acc);
}

static void depthwise_s8_pixel(const memopt_depthwise_conv_2d_s8_params *p,
                               const depthwise_s8_window *v, int8_t *out) {
  int32_t ic;
  int32_t oc = 0;
  if (p->depth_multiplier == 1) {
    for (; oc + 4 <= v->out_c; oc += 4) {
      depthwise_s8_four(p, v, oc, v->x + oc, 1, out);
    }
    for (; oc < v->out_c; ++oc) {
      depthwise_s8_one(p, v, oc, v->x + oc, out);
    }
    return;
  }
  for (ic = 0; ic < p->in_c; ++ic) {
    const int32_t end = oc + p->depth_multiplier;
    for (; oc + 4 <= end; oc += 4) {
      depthwise_s8_four(p, v, oc, v->x + ic, 0, out);
    }
    for (; oc < end; ++oc) {
      depthwise_s8_one(p, v, oc, v->x + ic, out);
    }
  }
}

MEMOPT_KERNEL void memopt_depthwise_conv_2d_s8(const memopt_depthwise_conv_2d_s8_params *p,
                                               const memopt_rows *rows, const int8_t *input,
                                               int8_t *output) {
  depthwise_s8_window v;
  int32_t oy;
  v.out_c = p->in_c * p->depth_multiplier;
  v.w_row = p->k_w * v.out_c;
  v.x_row = p->dilation_h * rows->in_stride;
  v.x_col = p->dilation_w * p->in_c;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *out = output;
    int32_t ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.full = v.ky_end - v.ky_begin == p->k_h && v.kx_end - v.kx_begin == p->k_w;
      v.x = input;
      if (v.ky_begin < v.ky_end && v.kx_begin < v.kx_end) {
        v.x += (iy + v.ky_begin * p->dilation_h - rows->in_first) * rows->in_stride +
               (ix + v.kx_begin * p->dilation_w) * p->in_c;
      }
      depthwise_s8_pixel(p, &v, out);
      out += v.out_c;
    }
    output += rows->out_stride;
  }
}
