/* A part of CONV_2D, int8, NHWC, weights OHWI: sums over some of the channels, in 32 bits, which
 * overwrite what is there or are added to it. memopt_finish_sum_s8.c makes int8 of all of them.
 *
 * `bias` holds -input_zero_point * sum(weights), per output channel: so the inner loop multiplies
 * raw int8 values. What is padded adds nothing.
 */
#include "memopt_common.h"
#include "memopt_dot_2x2_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point;
  int32_t adds;          /* to what is there */
  const int8_t *weights; /* [out_c][k_h][k_w][k_c] */
  const int32_t *bias;   /* [out_c] */
} memopt_conv_2d_sum_s8_params;

/* The taps of a window that fall inside the input, as stretches of `run` neighbours: one per kernel
 * row, or one per tap if columns are apart. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t iy, ix; /* where the window stands */
  int32_t step;   /* taps in a stretch */
} conv_2d_sum_s8_window;

/* Adds the products of n channels, whose filters begin at w, for one pixel or two neighbours. */
MEMOPT_FAST
static void conv_2d_sum_s8_products(const memopt_conv_2d_sum_s8_params *p,
                                    const conv_2d_sum_s8_window *v, const memopt_dot_shape *shape,
                                    int32_t pixels, const int8_t *w, int32_t n,
                                    int32_t acc[2][MEMOPT_TILE]) {
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    const int8_t *row =
        (const int8_t *)memopt_in_row(v->rows, v->in, 0, v->iy + ky * p->dilation_h);
    int32_t kx;
    for (kx = v->kx_begin; kx < v->kx_end; kx += v->step) {
      const int8_t *x = row + (v->ix + kx * p->dilation_w) * p->in_c;
      const int8_t *wx = w + (ky * p->k_w + kx) * p->k_c;
      if (pixels == 2) {
        memopt_dot_2xn(x, wx, shape, n, acc);
      } else {
        memopt_dot_1xn(x, wx, shape, n, acc[0]);
      }
    }
  }
}

/* -input_zero_point * sum(weights of the taps inside) of the filter at w. */
MEMOPT_FAST
static int32_t conv_2d_sum_s8_inside(const memopt_conv_2d_sum_s8_params *p,
                                     const conv_2d_sum_s8_window *v, const int8_t *w) {
  const int32_t run = (v->kx_end - v->kx_begin) * p->k_c;
  int32_t sum = 0;
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    sum += memopt_sum_s8(w + (ky * p->k_w + v->kx_begin) * p->k_c, run);
  }
  return -sum * p->input_zero_point;
}

/* One pixel, or two neighbours with all columns inside. */
MEMOPT_FAST
static void conv_2d_sum_s8_pixels(const memopt_conv_2d_sum_s8_params *p,
                                  const conv_2d_sum_s8_window *v, int32_t pixels, int32_t *out) {
  const int32_t full = v->ky_end - v->ky_begin == p->k_h && v->kx_end - v->kx_begin == p->k_w;
  const int32_t filter = p->k_h * p->k_w * p->k_c;
  memopt_dot_shape shape;
  int32_t oc;
  shape.run = v->step * p->k_c;
  shape.w_row = 0;
  shape.x_next = p->stride_w * p->in_c;
  shape.w_next = filter;
  shape.x_step[0] = 0;
  for (oc = 0; oc < p->out_c; oc += MEMOPT_TILE) {
    const int32_t left = p->out_c - oc;
    const int32_t n = left < MEMOPT_TILE ? left : MEMOPT_TILE;
    const int8_t *w = p->weights + oc * filter;
    int32_t acc[2][MEMOPT_TILE];
    int32_t x;
    int32_t i;
    for (i = 0; i < n; ++i) {
      acc[0][i] = full ? p->bias[oc + i] : conv_2d_sum_s8_inside(p, v, w + i * filter);
      acc[1][i] = acc[0][i];
    }
    if (n % 2 != 0) { /* the other half of a pair */
      acc[0][n] = 0;
      acc[1][n] = 0;
    }
    conv_2d_sum_s8_products(p, v, &shape, pixels, w, n, acc);
    for (x = 0; x < pixels; ++x) {
      int32_t *const sums = out + x * p->out_c + oc;
      for (i = 0; i < n; ++i) {
        sums[i] = p->adds ? sums[i] + acc[x][i] : acc[x][i];
      }
    }
  }
}

MEMOPT_FAST
KERNEL {
  conv_2d_sum_s8_window v;
  int32_t oy;
  v.rows = rows;
  v.in = in;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    int32_t *output = (int32_t *)memopt_out_row(rows, out, oy);
    int32_t ox = 0;
    v.ix = -p->pad_left;
    v.iy = oy * p->stride_h - p->pad_top;
    memopt_valid_taps(v.iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    while (ox < p->out_w) {
      const int32_t next_end = v.ix + p->stride_w + (p->k_w - 1) * p->dilation_w;
      int32_t pixels = 1;
      memopt_valid_taps(v.ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      if (v.kx_begin == 0 && ox + 1 < p->out_w && next_end < p->in_w) {
        pixels = 2;
      }
      v.step = p->dilation_w == 1 ? v.kx_end - v.kx_begin : 1;
      conv_2d_sum_s8_pixels(p, &v, pixels, output);
      output += pixels * p->out_c;
      ox += pixels;
      v.ix += pixels * p->stride_w;
    }
  }
}
