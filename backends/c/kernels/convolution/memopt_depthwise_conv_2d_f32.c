/* DEPTHWISE_CONV_2D, float32, NHWC, weights [1][k_h][k_w][out_c], any depth multiplier. */
#include "memopt_common.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  const float *weights; /* [k_h][k_w][out_c] */
  const float *bias;    /* [out_c] */
} memopt_depthwise_conv_2d_f32_params;

/* The taps of one output pixel that fall inside the input: `pieces` blocks of `rows_each` kernel
 * rows. One block, or one per row if the rows are anywhere; none if all taps are padding. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  const float *row;     /* the input row of the first tap, which is row iy */
  int32_t iy, iy_step;  /* iy_step: from one kernel row to the next */
  int32_t pieces, rows_each;
  const float *x;       /* channel 0 of the first tap */
  int32_t x_row, x_col; /* elements between two taps in the input */
  int32_t w_row, out_c; /* weights between two kernel rows, two taps */
} depthwise_f32_window;

/* acc += the kernel rows after the first, wherever they lie, for n channels from ic on; weights
 * from the first row's on. */
MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_f32_scattered(const depthwise_f32_window *v, int32_t ic,
                                                    int32_t x_channel, const float *w, int32_t n,
                                                    float *acc) {
  int32_t i;
  for (i = 1; i < v->pieces; ++i) {
    const float *x = (const float *)memopt_in_row(v->rows, v->in, 0, v->iy + i * v->iy_step);
    int32_t kx;
    x += v->x - v->row + ic;
    w += v->w_row;
    for (kx = 0; kx < v->kx_end - v->kx_begin; ++kx) {
      int32_t c;
      for (c = 0; c < n; ++c) {
        acc[c] += x[kx * v->x_col + c * x_channel] * w[kx * v->out_c + c];
      }
    }
  }
}

/* Four channels from oc on. x_channel is 1 if each has an input channel of its own, from ic on, 0
 * if they share it. */
static inline void depthwise_f32_four(const memopt_depthwise_conv_2d_f32_params *p,
                                      const depthwise_f32_window *v, int32_t oc, int32_t ic,
                                      const int32_t x_channel, float *out) {
  const float *const first = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  const float *w = first;
  const float *x = v->x + ic;
  float a0 = 0.0f;
  float a1 = 0.0f;
  float a2 = 0.0f;
  float a3 = 0.0f;
  int32_t rows;
  for (rows = v->rows_each; rows > 0; --rows) {
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
  if (v->pieces > 1) {
    float acc[4];
    acc[0] = a0;
    acc[1] = a1;
    acc[2] = a2;
    acc[3] = a3;
    depthwise_f32_scattered(v, ic, x_channel, first, 4, acc);
    a0 = acc[0];
    a1 = acc[1];
    a2 = acc[2];
    a3 = acc[3];
  }
  out[oc] = memopt_clamp_f32(a0 + p->bias[oc], p->act_min, p->act_max);
  out[oc + 1] = memopt_clamp_f32(a1 + p->bias[oc + 1], p->act_min, p->act_max);
  out[oc + 2] = memopt_clamp_f32(a2 + p->bias[oc + 2], p->act_min, p->act_max);
  out[oc + 3] = memopt_clamp_f32(a3 + p->bias[oc + 3], p->act_min, p->act_max);
}

MEMOPT_FAST
static void depthwise_f32_one(const memopt_depthwise_conv_2d_f32_params *p,
                              const depthwise_f32_window *v, int32_t oc, int32_t ic,
                              float *out) {
  const float *const first = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  const float *w = first;
  const float *x = v->x + ic;
  float acc = 0.0f;
  int32_t rows;
  for (rows = v->rows_each; rows > 0; --rows) {
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
  if (v->pieces > 1) {
    depthwise_f32_scattered(v, ic, 0, first, 1, &acc);
  }
  out[oc] = memopt_clamp_f32(acc + p->bias[oc], p->act_min, p->act_max);
}

MEMOPT_FAST
static void depthwise_f32_pixel(const memopt_depthwise_conv_2d_f32_params *p,
                                const depthwise_f32_window *v, float *out) {
  int32_t ic;
  int32_t oc = 0;
  if (p->depth_multiplier == 1) {
    for (; oc + 4 <= v->out_c; oc += 4) {
      depthwise_f32_four(p, v, oc, oc, 1, out);
    }
    for (; oc < v->out_c; ++oc) {
      depthwise_f32_one(p, v, oc, oc, out);
    }
    return;
  }
  for (ic = 0; ic < p->in_c; ++ic) {
    const int32_t end = oc + p->depth_multiplier;
    for (; oc + 4 <= end; oc += 4) {
      depthwise_f32_four(p, v, oc, ic, 0, out);
    }
    for (; oc < end; ++oc) {
      depthwise_f32_one(p, v, oc, ic, out);
    }
  }
}

/* A pixel all of whose taps are padding. */
MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_f32_padding(const memopt_depthwise_conv_2d_f32_params *p,
                                                  int32_t out_c, float *out) {
  int32_t oc;
  for (oc = 0; oc < out_c; ++oc) {
    out[oc] = memopt_clamp_f32(0.0f + p->bias[oc], p->act_min, p->act_max);
  }
}

MEMOPT_FAST
KERNEL {
  depthwise_f32_window v;
  int32_t oy;
  v.rows = rows;
  v.in = in;
  v.iy_step = p->dilation_h;
  v.x_row = p->dilation_h * rows->in_stride / (int32_t)sizeof(float);
  v.out_c = p->in_c * p->depth_multiplier;
  v.w_row = p->k_w * v.out_c;
  v.x_col = p->dilation_w * p->in_c;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *restrict output = (float *)memopt_out_row(rows, out, oy);
    int32_t pieces;
    int32_t ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    v.iy = iy + v.ky_begin * p->dilation_h;
    v.row = v.ky_begin < v.ky_end ? (const float *)memopt_in_row(rows, in, 0, v.iy) : 0;
    pieces = v.ky_end - v.ky_begin;
    v.rows_each = 1;
    if (rows->in_count == 1 && pieces > 1) {
      v.rows_each = pieces;
      pieces = 1;
    }
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.pieces = v.kx_begin < v.kx_end ? pieces : 0;
      if (v.pieces == 0) {
        depthwise_f32_padding(p, v.out_c, output);
      } else {
        v.x = v.row + (ix + v.kx_begin * p->dilation_w) * p->in_c;
        depthwise_f32_pixel(p, &v, output);
      }
      output += v.out_c;
    }
  }
}
