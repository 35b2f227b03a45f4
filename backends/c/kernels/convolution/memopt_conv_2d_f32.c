/* CONV_2D, float32, NHWC, weights OHWI. */
#include "memopt_common.h"
#include "memopt_dot_f32.h"

#include <string.h>

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c / groups */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  const float *weights; /* [out_c][k_h][k_w][k_c] */
  const float *bias;    /* [out_c] */
} memopt_conv_2d_f32_params;

/* The taps of a window that fall inside the input, and its walk through memory: `pieces` blocks of
 * `rows_each` kernel rows. One block, or one per row if the rows are anywhere; none if all taps are
 * padding. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  const float *row;     /* the input row of the first tap, which is row iy */
  int32_t iy, iy_step;  /* iy_step: from one kernel row to the next */
  int32_t pieces, rows_each;
  int32_t x;            /* where the first tap stands in its row */
  int32_t x_row, x_run; /* elements between two kernel rows, two runs in the input */
  int32_t w_row;        /* weights in one kernel row */
  int32_t runs, run;    /* contiguous stretches in one kernel row; elements in each */
} conv_2d_f32_window;

/* The taps of `rows` kernel rows from w0, w1 and x0 on; x1 is the next pixel, or x0 itself. Each run
 * is a sum of its own: of short sums less is rounded away than of one that goes on. */
static inline void conv_2d_f32_block(const conv_2d_f32_window *v, int32_t rows, const float *x0,
                                     const float *x1, const float *w0, const float *w1,
                                     float acc[4]) {
  for (; rows > 0; --rows) {
    int32_t r;
    for (r = 0; r < v->runs; ++r) {
      const int32_t xo = r * v->x_run;
      const int32_t wo = r * v->run;
      float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
      if (x0 == x1) {
        memopt_dot_1x2_f32(x0 + xo, w0 + wo, w1 + wo, v->run, sums);
      } else {
        memopt_dot_2x2_f32(x0 + xo, x1 + xo, w0 + wo, w1 + wo, v->run, sums);
        acc[2] += sums[2];
        acc[3] += sums[3];
      }
      acc[0] += sums[0];
      acc[1] += sums[1];
    }
    x0 += v->x_row;
    x1 += v->x_row;
    w0 += v->w_row;
    w1 += v->w_row;
  }
}

/* The kernel rows after the first, wherever they lie, with the pixels where x0 and x1 stand in the
 * first. */
MEMOPT_FAST
static MEMOPT_NOINLINE void conv_2d_f32_scattered(const conv_2d_f32_window *v, const float *x0,
                                                  const float *x1, const float *w0,
                                                  const float *w1, float acc[4]) {
  int32_t i;
  for (i = 1; i < v->pieces; ++i) {
    const float *row = (const float *)memopt_in_row(v->rows, v->in, 0, v->iy + i * v->iy_step);
    w0 += v->w_row;
    w1 += v->w_row;
    conv_2d_f32_block(v, 1, row + (x0 - v->row), row + (x1 - v->row), w0, w1, acc);
  }
}

/* One pixel, or two neighbours with the same taps inside (out1 is null for one). */
MEMOPT_FAST
static MEMOPT_NOINLINE void conv_2d_f32_pixels(const memopt_conv_2d_f32_params *p,
                                               const conv_2d_f32_window *v, float *out0,
                                               float *out1) {
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  const int32_t filter = p->k_h * v->w_row;
  const float *x0 = v->row + v->x;
  const float *x1 = out1 ? x0 + p->stride_w * p->in_c : x0;
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * p->k_c;
  int32_t group_end = per_group;
  int32_t oc = 0;
  while (oc < p->out_c) {
    const int32_t two = oc + 1 < group_end;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    conv_2d_f32_block(v, v->rows_each, x0, x1, w, two ? w + filter : w, acc);
    if (v->pieces > 1) {
      float sums[4]; /* acc has no address: it stays in registers */
      memcpy(sums, acc, sizeof sums);
      conv_2d_f32_scattered(v, x0, x1, w, two ? w + filter : w, sums);
      memcpy(acc, sums, sizeof sums);
    }
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
      x0 += p->k_c;
      x1 += p->k_c;
    }
  }
}

/* Pixels all of whose taps are padding. */
MEMOPT_FAST
static MEMOPT_NOINLINE void conv_2d_f32_padding(const memopt_conv_2d_f32_params *p, int32_t pixels,
                                                float *out) {
  for (; pixels > 0; --pixels) {
    int32_t oc;
    for (oc = 0; oc < p->out_c; ++oc) {
      *out++ = memopt_clamp_f32(0.0f + p->bias[oc], p->act_min, p->act_max);
    }
  }
}

MEMOPT_FAST
KERNEL {
  const int32_t dense = p->dilation_w == 1 && p->k_c == p->in_c;
  conv_2d_f32_window v;
  int32_t oy;
  v.rows = rows;
  v.in = in;
  v.iy_step = p->dilation_h;
  v.x_row = p->dilation_h * rows->in_stride / (int32_t)sizeof(float);
  v.x_run = p->dilation_w * p->in_c;
  v.w_row = p->k_w * p->k_c;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *restrict output = (float *)memopt_out_row(rows, out, oy);
    int32_t pieces;
    int32_t ox = 0;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    v.iy = iy + v.ky_begin * p->dilation_h;
    v.row = v.ky_begin < v.ky_end ? (const float *)memopt_in_row(rows, in, 0, v.iy) : 0;
    pieces = v.ky_end - v.ky_begin;
    v.rows_each = 1;
    if (rows->in_count == 1 && pieces > 1) {
      v.rows_each = pieces;
      pieces = 1;
    }
    while (ox < p->out_w) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t next_end = ix + p->stride_w + (p->k_w - 1) * p->dilation_w;
      int32_t two;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      two = v.kx_begin == 0 && ox + 1 < p->out_w && next_end < p->in_w;
      v.runs = dense ? 1 : v.kx_end - v.kx_begin;
      v.run = dense ? (v.kx_end - v.kx_begin) * p->k_c : p->k_c;
      v.x = (ix + v.kx_begin * p->dilation_w) * p->in_c;
      v.pieces = v.kx_begin < v.kx_end ? pieces : 0;
      if (v.pieces == 0) {
        conv_2d_f32_padding(p, two ? 2 : 1, output);
      } else {
        conv_2d_f32_pixels(p, &v, output, two ? output + p->out_c : 0);
      }
      output += two ? 2 * p->out_c : p->out_c;
      ox += two ? 2 : 1;
    }
  }
}
