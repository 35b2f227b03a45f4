/* CONV_2D, int8, NHWC, weights OHWI, per-axis or per-tensor multipliers.
 *
 * `bias` holds bias - input_zero_point * sum(weights), per output channel: so the
 * inner loop multiplies raw int8 values, and a padded tap counts as a value equal
 * to the zero point.
 */
#include "memopt_common.h"
#include "memopt_dot_2x2_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c / groups */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int8_t *weights;     /* [out_c][k_h][k_w][k_c] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_conv_2d_s8_params;

/* Where a window stands: its taps [ky_begin, ky_end) x [kx_begin, kx_end) are inside the input.
 * Its elements are `pieces` times `each` blocks of the dot products' shape: one; one per kernel row
 * if the taps of a row are not neighbours in memory; in a large kernel one per row, or per tap; none
 * if all taps are padding. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t full;      /* no tap is padding */
  const int8_t *row; /* the input row of the first tap inside, which is row iy */
  int32_t iy;
  int32_t x;         /* where that tap stands in its row */
  int32_t pieces, each;
  int32_t w_piece;   /* weights between two pieces */
  int32_t per_group; /* output channels */
  memopt_dot_shape shape;
} conv_2d_s8_window;

/* zero point * (weights of the padded taps) of the filter at w. */
MEMOPT_FAST
static int32_t conv_2d_s8_padding(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                                  const int8_t *w) {
  const int32_t row = p->k_w * p->k_c;
  const int8_t *const end = w + p->k_h * row;
  const int8_t *inside = w + v->ky_begin * row + v->kx_begin * p->k_c; /* of the first row */
  const int32_t length = (v->kx_end - v->kx_begin) * p->k_c;
  int32_t sum = 0;
  int32_t rows;
  for (rows = length > 0 ? v->ky_end - v->ky_begin : 0; rows > 0; --rows) {
    sum += memopt_sum_s8(w, (int32_t)(inside - w)); /* behind what was inside before */
    w = inside + length;
    inside += row;
  }
  sum += memopt_sum_s8(w, (int32_t)(end - w));
  return sum * p->input_zero_point;
}

/* The input row of piece i. */
static MEMOPT_NOINLINE const int8_t *conv_2d_s8_row(const memopt_conv_2d_s8_params *p,
                                                    const conv_2d_s8_window *v, int32_t i) {
  return (const int8_t *)memopt_in_row(v->rows, v->in, 0, v->iy + i * p->dilation_h);
}

/* One pixel, or two neighbours with all columns inside. */
MEMOPT_FAST
static void conv_2d_s8_pixels(const memopt_conv_2d_s8_params *p, const conv_2d_s8_window *v,
                              const memopt_finish *finish, int32_t pixels, int8_t *restrict out) {
  const int32_t per_group = v->per_group;
  const int32_t filter = v->shape.w_next;
  const int8_t *w = p->weights + (v->ky_begin * p->k_w + v->kx_begin) * p->k_c;
  int32_t group_end = per_group;
  int32_t at = v->x;
  int32_t oc = 0;
  while (oc < p->out_c) {
    const int32_t left = group_end - oc;
    const int32_t n = left < MEMOPT_TILE ? left : MEMOPT_TILE;
    int32_t acc[2][MEMOPT_TILE];
    int32_t i;
    int32_t k;
#if MEMOPT_MVE
    memopt_twice_mve(p->bias + oc, n, acc[0], acc[1]);
    for (i = 0; !v->full && i < n; ++i) {
      const int32_t padding = conv_2d_s8_padding(p, v, p->weights + (oc + i) * filter);
      acc[0][i] += padding;
      acc[1][i] += padding;
    }
#else
    for (i = 0; i < n; ++i) {
      int32_t bias = p->bias[oc + i];
      if (!v->full) {
        bias += conv_2d_s8_padding(p, v, p->weights + (oc + i) * filter);
      }
      acc[0][i] = bias;
      acc[1][i] = bias;
    }
#endif
    if (n % 2 != 0) { /* the other half of a pair */
      acc[0][n] = 0;
      acc[1][n] = 0;
    }
    for (i = 0; i < v->pieces; ++i) {
      const int8_t *x = (i == 0 ? v->row : conv_2d_s8_row(p, v, i)) + at;
      const int8_t *wi = w + i * v->w_piece;
      for (k = v->each; k > 0; --k) {
        if (pixels == 2) {
          memopt_dot_2xn(x, wi, &v->shape, n, acc);
        } else {
          memopt_dot_1xn(x, wi, &v->shape, n, acc[0]);
        }
        x += p->dilation_w * p->in_c;
        wi += p->k_c;
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
      at += p->k_c;
    }
  }
}

/* What the dot products' shape is for every window. */
static void conv_2d_s8_start(const memopt_conv_2d_s8_params *p, conv_2d_s8_window *v) {
  v->per_group = p->out_c / (p->in_c / p->k_c);
  v->w_piece = p->k_w * p->k_c;
  v->shape.x_next = p->stride_w * p->in_c;
  v->shape.w_next = p->k_h * v->w_piece;
}

/* The dot products' shape for windows of which `columns` columns are inside. */
static void conv_2d_s8_set_shape(const memopt_conv_2d_s8_params *p, int32_t columns,
                                 conv_2d_s8_window *v) {
  const int32_t rows = v->ky_end - v->ky_begin;
  const int32_t dense = p->dilation_w == 1 && p->k_c == p->in_c;
  const int32_t all = dense ? rows : columns;
  const int32_t stretches = all <= MEMOPT_STRETCHES ? all : 1;
  const int8_t *row = v->row;
  int32_t i;
  v->full = columns == p->k_w && rows == p->k_h;
  v->pieces = columns == 0 ? 0 : dense && stretches == all && rows > 0 ? 1 : rows;
  v->each = dense || stretches == all ? 1 : columns;
  v->shape.run = dense ? columns * p->k_c : p->k_c;
  v->shape.w_row = dense ? v->w_piece : p->k_c;
  for (i = 1; i < stretches; ++i) {
    ptrdiff_t step = p->dilation_w * p->in_c;
    if (dense) {
      const int8_t *const next = conv_2d_s8_row(p, v, i);
      step = next - row;
      row = next;
    }
    v->shape.x_step[i - 1] = step;
  }
  v->shape.x_step[i - 1] = 0;
}

MEMOPT_FAST
KERNEL {
  conv_2d_s8_window v;
  memopt_finish finish;
  int32_t oy;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  v.rows = rows;
  v.in = in;
  conv_2d_s8_start(p, &v);
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *restrict output = (int8_t *)memopt_out_row(rows, out, oy);
    int32_t columns = -1; /* of the window before */
    int32_t ox = 0;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    v.iy = iy + v.ky_begin * p->dilation_h;
    v.row = v.ky_begin < v.ky_end ? (const int8_t *)memopt_in_row(rows, in, 0, v.iy) : 0;
    while (ox < p->out_w) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t next_end = ix + p->stride_w + (p->k_w - 1) * p->dilation_w;
      int32_t two;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      two = v.kx_begin == 0 && ox + 1 < p->out_w && next_end < p->in_w;
      v.x = (ix + v.kx_begin * p->dilation_w) * p->in_c;
      if (v.kx_end - v.kx_begin != columns) {
        columns = v.kx_end - v.kx_begin;
        conv_2d_s8_set_shape(p, columns, &v);
      }
      conv_2d_s8_pixels(p, &v, &finish, two ? 2 : 1, output);
      output += two ? 2 * p->out_c : p->out_c;
      ox += two ? 2 : 1;
    }
  }
}
