/* CONV_2D, float32, NHWC, weights OHWI. */
#include "memopt_common.h"
#include "memopt_dot_f32.h"

#include <stddef.h>

#define CONV_2D_F32_FILTERS 4 /* at a time of two pixels; of one twice as many, if all are there */

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

/* The taps of a window that fall inside the input, and its walk through memory. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  const float *row;     /* the input row of the first tap, which is row iy */
  int32_t iy, iy_step;  /* iy_step: from one kernel row to the next */
  int32_t tap_rows;     /* kernel rows, none if all taps are padding */
  int32_t scattered;    /* whether they are anywhere */
  int32_t pixels;       /* 1, or 2 neighbours */
  int32_t x;            /* where the first tap stands in its row */
  int32_t x_row, x_run; /* elements between two kernel rows, two runs in the input */
  int32_t w_row;        /* weights in one kernel row */
  int32_t runs, run;    /* contiguous stretches in one kernel row; elements in each */
} conv_2d_f32_window;

/* One run of so many pixels. Of one or two filters what they lack is not computed. */
static inline void conv_2d_f32_run(const memopt_dots_f32 *of, int32_t pixels, const float *x,
                                   const float *w, float *sums) {
  if (of->last < 2) {
    memopt_dot_1x2_f32(x, w, of, sums);
    if (pixels == 2) {
      memopt_dot_1x2_f32(x + of->apart, w, of, sums + CONV_2D_F32_FILTERS);
    }
  } else if (of->last >= CONV_2D_F32_FILTERS) {
    memopt_dot_1x8_f32(x, w, of, sums);
  } else if (pixels == 2) {
    memopt_dot_2x4_f32(x, w, of, sums);
  } else {
    memopt_dot_1x4_f32(x, w, of, sums);
  }
}

static inline void conv_2d_f32_add(const float *sums, float *acc) {
  acc[0] += sums[0];
  acc[1] += sums[1];
  acc[2] += sums[2];
  acc[3] += sums[3];
}

/* The taps of so many pixels, the first at x in the first row, and filters, from w on. Each run is
 * a sum of its own: of short sums less is rounded away than of one that goes on. */
MEMOPT_FAST
static MEMOPT_NOINLINE void conv_2d_f32_runs(const conv_2d_f32_window *v, const memopt_dots_f32 *of,
                                             const float *x, const float *w, float *acc) {
  const ptrdiff_t at = x - v->row;
  float sums[2 * CONV_2D_F32_FILTERS];
  int32_t row, r;
  for (row = 0; row < v->tap_rows; ++row) {
    if (row > 0) {
      const int32_t y = v->iy + row * v->iy_step;
      x = v->scattered ? (const float *)memopt_in_row(v->rows, v->in, 0, y) + at : x + v->x_row;
    }
    for (r = 0; r < v->runs; ++r) {
      const int32_t more = row + r;
      conv_2d_f32_run(of, v->pixels, x + r * v->x_run, w + r * of->n, more > 0 ? sums : acc);
      if (more > 0) {
        conv_2d_f32_add(sums, acc);
      }
      if (more > 0 && (v->pixels == 2 || of->last >= CONV_2D_F32_FILTERS)) {
        conv_2d_f32_add(sums + CONV_2D_F32_FILTERS, acc + CONV_2D_F32_FILTERS);
      }
    }
    w += v->w_row;
  }
}

static inline void conv_2d_f32_finish(const memopt_conv_2d_f32_params *p, const float *acc,
                                      const float *bias, int32_t filters, float *out) {
  int32_t k;
  if (filters == CONV_2D_F32_FILTERS) {
    out[0] = memopt_clamp_f32(acc[0] + bias[0], p->act_min, p->act_max);
    out[1] = memopt_clamp_f32(acc[1] + bias[1], p->act_min, p->act_max);
    out[2] = memopt_clamp_f32(acc[2] + bias[2], p->act_min, p->act_max);
    out[3] = memopt_clamp_f32(acc[3] + bias[3], p->act_min, p->act_max);
    return;
  }
  for (k = 0; k < filters; ++k) {
    out[k] = memopt_clamp_f32(acc[k] + bias[k], p->act_min, p->act_max);
  }
}

/* One pixel, or two neighbours with the same taps inside. */
MEMOPT_FAST
static MEMOPT_NOINLINE void conv_2d_f32_pixels(const memopt_conv_2d_f32_params *p,
                                               const conv_2d_f32_window *v, float *out) {
  static const float zeros[2 * CONV_2D_F32_FILTERS] = {0.0f};
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  const float *x = v->row + v->x;
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * p->k_c;
  memopt_dots_f32 of;
  int32_t group_end = per_group;
  int32_t oc = 0;
  of.from = zeros;
  of.n = v->run;
  of.step = p->k_h * v->w_row;
  of.apart = v->pixels == 2 ? p->stride_w * p->in_c : CONV_2D_F32_FILTERS * of.step;
  while (oc < p->out_c) {
    const int32_t there = group_end - oc;
    const int32_t twice = v->pixels == 1 && there >= 2 * CONV_2D_F32_FILTERS;
    const int32_t filters = there < CONV_2D_F32_FILTERS ? there : CONV_2D_F32_FILTERS;
    float acc[2 * CONV_2D_F32_FILTERS];
    of.last = (twice ? 2 * filters : filters) - 1;
    if (v->tap_rows == 1 && v->runs == 1) {
      conv_2d_f32_run(&of, v->pixels, x, w, acc);
    } else {
      conv_2d_f32_runs(v, &of, x, w, acc);
    }
    conv_2d_f32_finish(p, acc, p->bias + oc, filters, out + oc);
    if (twice) {
      oc += filters;
      conv_2d_f32_finish(p, acc + CONV_2D_F32_FILTERS, p->bias + oc, filters, out + oc);
    }
    if (v->pixels == 2) {
      conv_2d_f32_finish(p, acc + CONV_2D_F32_FILTERS, p->bias + oc, filters, out + p->out_c + oc);
    }
    oc += filters;
    w += (of.last + 1) * of.step;
    if (oc == group_end) {
      group_end += per_group;
      x += p->k_c;
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
  v.scattered = rows->in_count > 1;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *restrict output = (float *)memopt_out_row(rows, out, oy);
    int32_t ox = 0;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    v.iy = iy + v.ky_begin * p->dilation_h;
    v.row = v.ky_begin < v.ky_end ? (const float *)memopt_in_row(rows, in, 0, v.iy) : 0;
    while (ox < p->out_w) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t next_end = ix + p->stride_w + (p->k_w - 1) * p->dilation_w;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.pixels = v.kx_begin == 0 && ox + 1 < p->out_w && next_end < p->in_w ? 2 : 1;
      v.runs = dense ? 1 : v.kx_end - v.kx_begin;
      v.run = dense ? (v.kx_end - v.kx_begin) * p->k_c : p->k_c;
      v.x = (ix + v.kx_begin * p->dilation_w) * p->in_c;
      v.tap_rows = v.kx_begin < v.kx_end ? v.ky_end - v.ky_begin : 0;
      if (v.tap_rows == 0) {
        conv_2d_f32_padding(p, v.pixels, output);
      } else {
        conv_2d_f32_pixels(p, &v, output);
      }
      output += v.pixels * p->out_c;
      ox += v.pixels;
    }
  }
}
