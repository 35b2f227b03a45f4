#include "memopt_conv_2d_s8.h"

#include "memopt_dot_2x2_s8.h"

/* Where a window stands: its taps [ky_begin, ky_end) x [kx_begin, kx_end) are inside the input.
 * Its elements are `pieces` blocks of the dot products' shape, one or, if taps are not
 * neighbours in memory, one per kernel row. */
typedef struct {
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t full;             /* no tap is padding */
  int32_t pieces;
  int32_t x_piece, w_piece; /* elements between two pieces */
  memopt_dot_shape shape;
} conv_2d_s8_window;

/* zero point * (weights of the padded taps) of the filter at w. */
static int32_t conv_2d_s8_padding(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                                  const int8_t *w) {
  const int32_t row = p->k_w * p->k_c;
  const int32_t before = v->kx_begin * p->k_c;
  const int32_t after = v->kx_end * p->k_c;
  int32_t sum = memopt_sum_s8(w, v->ky_begin * row) +
                memopt_sum_s8(w + v->ky_end * row, (p->k_h - v->ky_end) * row);
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    sum += memopt_sum_s8(w + ky * row, before) +
           memopt_sum_s8(w + ky * row + after, row - after);
  }
  return sum * p->input_zero_point;
}

/* One pixel, or two neighbours with all columns inside. `x` is at the window's first tap
 * inside. */
static void conv_2d_s8_pixels(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                              const memopt_finish *finish, const int8_t *x, int32_t pixels,
                              int8_t *restrict out) {
  const int32_t per_group = p->out_c / (p->in_c / p->k_c);
  const int32_t filter = v->shape.w_next;
  const int8_t *w = p->weights + (v->ky_begin * p->k_w + v->kx_begin) * p->k_c;
  int32_t group_end = per_group;
  int32_t oc = 0;
  while (oc < p->out_c) {
    const int32_t left = group_end - oc;
    const int32_t n = left < MEMOPT_TILE ? left : MEMOPT_TILE;
    int32_t acc[2][MEMOPT_TILE + 1];
    int32_t i;
    for (i = 0; i < n; ++i) {
      int32_t bias = p->bias[oc + i];
      if (!v->full) {
        bias += conv_2d_s8_padding(p, v, p->weights + (oc + i) * filter);
      }
      acc[0][i] = bias;
      acc[1][i] = bias;
    }
    acc[0][n] = 0;
    acc[1][n] = 0;
    for (i = 0; i < v->pieces; ++i) {
      if (pixels == 2) {
        memopt_dot_2xn(x + i * v->x_piece, w + i * v->w_piece, &v->shape, n, acc);
      } else {
        memopt_dot_1xn(x + i * v->x_piece, w + i * v->w_piece, &v->shape, n, acc[0]);
      }
    }
    for (i = 0; i < pixels; ++i) {
      memopt_finish_s8(finish, p->multiplier + oc, p->shift + oc, n, acc[i],
                       out + i * p->out_c + oc);
    }
    oc += n;
    w += n * filter;
    if (oc == group_end) {
      group_end += per_group;
      x += p->k_c;
    }
  }
}

/* The dot products' shape for the taps that are inside. */
static void conv_2d_s8_set_shape(const memopt_conv_2d_s8_params *p, int32_t in_stride,
                                 conv_2d_s8_window *v) {
  const int32_t columns = v->kx_end - v->kx_begin;
  const int32_t rows = v->ky_end - v->ky_begin;
  v->full = columns == p->k_w && rows == p->k_h;
  v->shape.x_next = p->stride_w * p->in_c;
  v->shape.w_next = p->k_h * p->k_w * p->k_c;
  if (p->dilation_w == 1 && p->k_c == p->in_c) {
    v->pieces = 1;
    v->shape.rows = rows;
    v->shape.run = columns * p->k_c;
    v->shape.x_row = p->dilation_h * in_stride;
    v->shape.w_row = p->k_w * p->k_c;
  } else {
    v->pieces = rows;
    v->x_piece = p->dilation_h * in_stride;
    v->w_piece = p->k_w * p->k_c;
    v->shape.rows = columns;
    v->shape.run = p->k_c;
    v->shape.x_row = p->dilation_w * p->in_c;
    v->shape.w_row = p->k_c;
  }
}

MEMOPT_KERNEL void memopt_conv_2d_s8(const memopt_conv_2d_s8_params *p, const memopt_rows *rows,
                                     const int8_t *input, int8_t *restrict output) {
  conv_2d_s8_window v = {0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0}};
  memopt_finish finish;
  int32_t oy;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *out = output;
    int32_t ox = 0;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    while (ox < p->out_w) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t next_end = ix + p->stride_w + (p->k_w - 1) * p->dilation_w;
      const int8_t *x = input;
      int32_t two;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      two = v.kx_begin == 0 && ox + 1 < p->out_w && next_end < p->in_w;
      conv_2d_s8_set_shape(p, rows->in_stride, &v);
      if (v.ky_begin < v.ky_end && v.kx_begin < v.kx_end) {
        x += (iy + v.ky_begin * p->dilation_h - rows->in_first) * rows->in_stride +
             (ix + v.kx_begin * p->dilation_w) * p->in_c;
      }
      conv_2d_s8_pixels(p, &v, &finish, x, two ? 2 : 1, out);
      out += two ? 2 * p->out_c : p->out_c;
      ox += two ? 2 : 1;
    }
    output += rows->out_stride;
  }
}
