/* A part of CONV_2D, int8, NHWC, weights OHWI: sums over some of the channels, in 32 bits, which
 * overwrite what is there or are added to it. memopt_finish_sum_s8.c makes int8 of all of them.
 *
 * `bias` holds -input_zero_point * sum(weights), per output channel: so the inner loop multiplies
 * raw int8 values. What is padded adds nothing.
 */
#include "memopt_common.h"
#include "memopt_dot_s8.h"

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

/* The sums of n channels, whose filters begin at w. */
static void conv_2d_sum_s8_products(const memopt_conv_2d_sum_s8_params *p,
                                    const conv_2d_sum_s8_window *v, const memopt_dot_shape *shape,
                                    int32_t full, const int8_t *w, int32_t n, int32_t *acc) {
  int32_t ky;
  for (ky = v->ky_begin; ky < v->ky_end; ++ky) {
    const int8_t *row = memopt_in_row(v->rows, v->in, 0, v->iy + ky * p->dilation_h);
    int32_t kx;
    for (kx = v->kx_begin; kx < v->kx_end; kx += v->step) {
      const int8_t *wx = w + (ky * p->k_w + kx) * p->k_c;
      memopt_dot_1xn(row + (v->ix + kx * p->dilation_w) * p->in_c, wx, shape, n, acc);
      if (!full) { /* of these taps alone */
        int32_t i;
        for (i = 0; i < n; ++i) {
          acc[i] -= p->input_zero_point * memopt_sum_s8(wx + i * shape->w_next, shape->run);
        }
      }
    }
  }
}

/* One pixel. */
static void conv_2d_sum_s8_pixel(const memopt_conv_2d_sum_s8_params *p,
                                 const conv_2d_sum_s8_window *v, int32_t *out) {
  const int32_t full = v->ky_end - v->ky_begin == p->k_h && v->kx_end - v->kx_begin == p->k_w;
  memopt_dot_shape shape;
  int32_t oc;
  shape.run = v->step * p->k_c;
  shape.w_row = 0;
  shape.x_next = 0;
  shape.w_next = p->k_h * p->k_w * p->k_c;
  shape.x_step[0] = 0;
  for (oc = 0; oc < p->out_c; oc += MEMOPT_TILE) {
    const int32_t left = p->out_c - oc;
    const int32_t n = left < MEMOPT_TILE ? left : MEMOPT_TILE;
    int32_t acc[MEMOPT_TILE];
    int32_t i;
    for (i = 0; i < n; ++i) {
      acc[i] = full ? p->bias[oc + i] : 0;
    }
    if (n % 2 != 0) { /* the other half of a pair */
      acc[n] = 0;
    }
    conv_2d_sum_s8_products(p, v, &shape, full, p->weights + oc * shape.w_next, n, acc);
    for (i = 0; i < n; ++i) {
      out[oc + i] = p->adds ? out[oc + i] + acc[i] : acc[i];
    }
  }
}

MEMOPT_KERNEL void memopt_conv_2d_sum_s8(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_conv_2d_sum_s8_params *p = params;
  conv_2d_sum_s8_window v;
  int32_t oy;
  v.rows = rows;
  v.in = in;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    int32_t *output = memopt_out_row(rows, out, oy);
    int32_t ox;
    v.iy = oy * p->stride_h - p->pad_top;
    memopt_valid_taps(v.iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    for (ox = 0; ox < p->out_w; ++ox) {
      v.ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(v.ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.step = p->dilation_w == 1 ? v.kx_end - v.kx_begin : 1;
      conv_2d_sum_s8_pixel(p, &v, output);
      output += p->out_c;
    }
  }
}
