#include "memopt_conv_2d_s8.h"

#include "memopt_dot_s8.h"

static inline int8_t conv_2d_s8_finish(const memopt_conv_2d_s8_params *p, int32_t oc, int32_t acc) {
  const int32_t value =
      memopt_requantize(acc, p->multiplier[oc], p->shift[oc]) + p->output_zero_point;
  return (int8_t)memopt_clamp(value, p->act_min, p->act_max);
}

/* Where a pixel's window stands: kernel rows [ky_begin, ky_end) are inside the
 * input, and `x` is the first element of the first of them, at tap kx = 0 (only
 * formed when the column is inside too). */
typedef struct {
  int32_t ky_begin, ky_end;
  int32_t x_step; /* elements between two kernel rows in the input */
  int32_t w_row;  /* weights in one kernel row */
  int32_t runs;   /* contiguous stretches in one kernel row */
  int32_t run;    /* elements in a stretch */
  int32_t x_run;  /* elements between two stretches in the input */
} conv_2d_s8_window;

/* Two neighbouring pixels whose columns are all inside the input, two channels. */
static inline void conv_2d_s8_block(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                                    const int8_t *x0, const int8_t *x1, const int8_t *w0,
                                    const int8_t *w1, int32_t acc[4]) {
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    if (ky < v->ky_begin || ky >= v->ky_end) {
      const int32_t s0 = p->input_zero_point * memopt_sum_s8(w0, v->w_row);
      const int32_t s1 = p->input_zero_point * memopt_sum_s8(w1, v->w_row);
      acc[0] += s0;
      acc[1] += s1;
      acc[2] += s0;
      acc[3] += s1;
    } else {
      int32_t r;
      for (r = 0; r < v->runs; ++r) {
        const int32_t xo = (ky - v->ky_begin) * v->x_step + r * v->x_run;
        memopt_dot_2x2(x0 + xo, x1 + xo, w0 + r * v->run, w1 + r * v->run, v->run, acc);
      }
    }
    w0 += v->w_row;
    w1 += v->w_row;
  }
}

/* One pixel, taps [kx_begin, kx_end) inside the input, two channels. `x` is at tap kx_begin. */
static inline void conv_2d_s8_edge(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                                   int32_t kx_begin, int32_t kx_end, const int8_t *x,
                                   const int8_t *w0, const int8_t *w1, int32_t acc[2]) {
  const int32_t before = kx_begin * p->k_c;
  const int32_t inside = (kx_end - kx_begin) * p->k_c;
  const int32_t after = (p->k_w - kx_end) * p->k_c;
  int32_t pad0 = 0;
  int32_t pad1 = 0;
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    if (ky < v->ky_begin || ky >= v->ky_end) {
      pad0 += memopt_sum_s8(w0, v->w_row);
      pad1 += memopt_sum_s8(w1, v->w_row);
    } else {
      const int8_t *row = x + (ky - v->ky_begin) * v->x_step;
      pad0 += memopt_sum_s8(w0, before) + memopt_sum_s8(w0 + before + inside, after);
      pad1 += memopt_sum_s8(w1, before) + memopt_sum_s8(w1 + before + inside, after);
      if (v->runs == 1) {
        memopt_dot_1x2(row, w0 + before, w1 + before, inside, acc);
      } else {
        int32_t kx;
        for (kx = 0; kx < kx_end - kx_begin; ++kx) {
          const int32_t wo = before + kx * p->k_c;
          memopt_dot_1x2(row + kx * v->x_run, w0 + wo, w1 + wo, p->k_c, acc);
        }
      }
    }
    w0 += v->w_row;
    w1 += v->w_row;
  }
  acc[0] += p->input_zero_point * pad0;
  acc[1] += p->input_zero_point * pad1;
}

static void conv_2d_s8_pair(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                            const int8_t *x, int8_t *out0, int8_t *out1) {
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  const int32_t filter = p->k_h * v->w_row;
  const int8_t *x1 = x + p->stride_w * p->in_c;
  const int8_t *w = p->weights;
  int32_t group_end = per_group;
  int32_t oc = 0;
  while (oc < p->out_c) {
    const int32_t two = oc + 1 < group_end;
    int32_t acc[4];
    acc[0] = p->bias[oc];
    acc[1] = two ? p->bias[oc + 1] : 0;
    acc[2] = acc[0];
    acc[3] = acc[1];
    conv_2d_s8_block(p, v, x, x1, w, two ? w + filter : w, acc);
    out0[oc] = conv_2d_s8_finish(p, oc, acc[0]);
    out1[oc] = conv_2d_s8_finish(p, oc, acc[2]);
    if (two) {
      out0[oc + 1] = conv_2d_s8_finish(p, oc + 1, acc[1]);
      out1[oc + 1] = conv_2d_s8_finish(p, oc + 1, acc[3]);
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

static void conv_2d_s8_single(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                              int32_t kx_begin, int32_t kx_end, const int8_t *x, int8_t *out) {
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  const int32_t filter = p->k_h * v->w_row;
  const int8_t *w = p->weights;
  int32_t group_end = per_group;
  int32_t oc = 0;
  while (oc < p->out_c) {
    const int32_t two = oc + 1 < group_end;
    int32_t acc[2];
    acc[0] = p->bias[oc];
    acc[1] = two ? p->bias[oc + 1] : 0;
    conv_2d_s8_edge(p, v, kx_begin, kx_end, x, w, two ? w + filter : w, acc);
    out[oc] = conv_2d_s8_finish(p, oc, acc[0]);
    if (two) {
      out[oc + 1] = conv_2d_s8_finish(p, oc + 1, acc[1]);
    }
    oc += two ? 2 : 1;
    w += two ? 2 * filter : filter;
    if (oc == group_end) {
      group_end += per_group;
      x += p->k_c;
    }
  }
}

MEMOPT_KERNEL void memopt_conv_2d_s8(const memopt_conv_2d_s8_params *p, const memopt_rows *rows,
                                     const int8_t *input, int8_t *output) {
  const int32_t dense = p->dilation_w == 1 && p->k_c == p->in_c;
  conv_2d_s8_window v;
  int32_t oy;
  v.x_step = p->dilation_h * rows->in_stride;
  v.w_row = p->k_w * p->k_c;
  v.runs = dense ? 1 : p->k_w;
  v.run = dense ? v.w_row : p->k_c;
  v.x_run = p->dilation_w * p->in_c;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    const int8_t *in_row = input;
    int8_t *out = output;
    int32_t ox = 0;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    if (v.ky_begin < v.ky_end) {
      in_row += (iy + v.ky_begin * p->dilation_h - rows->in_first) * rows->in_stride;
    }
    while (ox < p->out_w) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      int32_t kx_begin;
      int32_t kx_end;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &kx_begin, &kx_end);
      if (kx_begin == 0 && ox + 1 < p->out_w &&
          ix + p->stride_w + (p->k_w - 1) * p->dilation_w < p->in_w) {
        conv_2d_s8_pair(p, &v, in_row + ix * p->in_c, out, out + p->out_c);
        out += 2 * p->out_c;
        ox += 2;
      } else {
        const int32_t first = kx_begin < kx_end ? ix + kx_begin * p->dilation_w : 0;
        conv_2d_s8_single(p, &v, kx_begin, kx_end, in_row + first * p->in_c, out);
        out += p->out_c;
        ox += 1;
      }
    }
    output += rows->out_stride;
  }
}
