/* DEPTHWISE_CONV_2D over its operand, int8, NHWC, weights [1][k_h][k_w][in_c], a filter to a
 * channel. The rows of one channel under the window are kept in scratch, so that what is in place
 * may be written over: whoever plans it makes sure that no row is before it was kept.
 *
 * `bias` is folded with the input's zero point as in memopt_conv_2d_s8.c.
 */
#include "memopt_common.h"
#include "memopt_finish_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t span; /* from the first row under a window to the last */
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int8_t *weights;     /* [k_h][k_w][in_c] */
  const int32_t *bias;       /* [in_c] */
  const int32_t *multiplier; /* [in_c] */
  const int8_t *shift;       /* [in_c], as memopt_requantize takes it */
} memopt_depthwise_in_place_s8_params;

/* The taps of a window that are in the image; the kept row of the first, its column. */
typedef struct {
  int32_t ky_begin, ky_end, row;
  int32_t kx_begin, kx_end, column;
} depthwise_in_place_s8_window;

/* zero_point * (the weights of the taps in the padding). */
MEMOPT_FAST
static MEMOPT_NOINLINE int32_t
depthwise_in_place_s8_padding(const memopt_depthwise_in_place_s8_params *p,
                              const depthwise_in_place_s8_window *v, const int8_t *w) {
  int32_t acc = 0;
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t row_inside = ky >= v->ky_begin && ky < v->ky_end;
    int32_t kx;
    for (kx = 0; kx < p->k_w; ++kx) {
      if (!row_inside || kx < v->kx_begin || kx >= v->kx_end) {
        acc += *w;
      }
      w += p->in_c;
    }
  }
  return acc * p->input_zero_point;
}

/* The sum of one window of one channel. */
static inline int32_t depthwise_in_place_s8_sum(const memopt_depthwise_in_place_s8_params *p,
                                                const depthwise_in_place_s8_window *v,
                                                const int8_t *kept, const int8_t *weights) {
  const int32_t columns = v->kx_end - v->kx_begin;
  int32_t acc = 0;
  int32_t row = v->row;
  int32_t rows;
  if (v->ky_end - v->ky_begin != p->k_h || columns != p->k_w) {
    acc = depthwise_in_place_s8_padding(p, v, weights);
  }
  weights += (v->ky_begin * p->k_w + v->kx_begin) * p->in_c;
  for (rows = v->ky_end - v->ky_begin; rows > 0; --rows) {
    const int8_t *x = kept + row * p->in_w + v->column;
    const int8_t *w = weights;
    int32_t n;
    for (n = columns; n > 0; --n) {
      acc += (int32_t)*x * *w;
      x += p->dilation_w;
      w += p->in_c;
    }
    weights += p->k_w * p->in_c;
    row += p->dilation_h;
    if (row >= p->span) {
      row -= p->span;
    }
  }
  return acc;
}

MEMOPT_FAST
MEMOPT_KERNEL void memopt_depthwise_in_place_s8(const void *params, const memopt_rows *rows,
                                                const void *const *in, void *out, void *scratch) {
  const memopt_depthwise_in_place_s8_params *p = params;
  int8_t *const kept = scratch;
  memopt_finish finish;
  int32_t c;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  for (c = 0; c < p->in_c; ++c) {
    const int8_t *next = (const int8_t *)in[0] + c; /* row `loaded`, and then the next */
    int8_t *output = (int8_t *)out + c;
    int32_t loaded = 0;
    int32_t oy;
    for (oy = 0; oy < rows->out_end; ++oy) {
      const int32_t iy = oy * p->stride_h - p->pad_top;
      depthwise_in_place_s8_window v;
      int32_t ox;
      memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
      v.row = (iy + v.ky_begin * p->dilation_h) % p->span;
      for (; loaded < iy + p->span && loaded < p->in_h; ++loaded) {
        int8_t *const row = kept + loaded % p->span * p->in_w;
        int32_t x;
        for (x = 0; x < p->in_w; ++x) {
          row[x] = *next;
          next += p->in_c;
        }
      }
      for (ox = 0; ox < p->out_w; ++ox) {
        const int32_t ix = ox * p->stride_w - p->pad_left;
        int32_t acc = p->bias[c];
        memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
        v.column = ix + v.kx_begin * p->dilation_w;
        acc += depthwise_in_place_s8_sum(p, &v, kept, p->weights + c);
        memopt_finish_s8(&finish, p->multiplier + c, p->shift + c, 1, &acc, output);
        output += p->in_c;
      }
    }
  }
}
