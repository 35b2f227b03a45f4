/* DEPTHWISE_CONV_2D, int8, NHWC, weights [1][k_h][k_w][out_c], any depth multiplier.
 *
 * `bias` is folded with the input's zero point as in memopt_conv_2d_s8.c.
 */
#include "memopt_common.h"
#include "memopt_depthwise_column_s8.h"
#include "memopt_dsp_s8.h"
#include "memopt_finish_s8.h"

#include <stddef.h>
#include <string.h>

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int8_t *weights;     /* [k_h][k_w][out_c] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_depthwise_conv_2d_s8_params;

/* The taps of one output pixel that fall inside the input: in `rows` kernel rows, in none if all
 * taps are padding. */
typedef struct {
  const void *const *next; /* null, or the pointers to those rows, which are anywhere, next_step
                              apart */
  int32_t next_step;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t full;           /* no tap is padding */
  const int8_t *row;      /* the input row of the first tap inside */
  const int8_t *x;        /* channel 0 of that tap */
  int32_t rows;
  int32_t x_col, out_c;   /* elements from tap to tap in the input, in the weights */
  int32_t x_next, w_next; /* from behind the last tap of a kernel row to the next row's first */
} depthwise_s8_window;

/* a += the products of four neighbouring channels, each with an input channel of its own. */
static MEMOPT_INLINE void depthwise_s8_products(const int8_t *x, const int8_t *w, int32_t a[4]) {
#if MEMOPT_DOT_DSP
  const uint32_t xs = memopt_load_s8x4(x);
  const uint32_t ws = memopt_load_s8x4(w);
  const int16x2_t xe = memopt_even_s8(xs);
  const int16x2_t we = memopt_even_s8(ws);
  const int16x2_t xo = memopt_odd_s8(xs);
  const int16x2_t wo = memopt_odd_s8(ws);
  a[0] = __smlabb(xe, we, a[0]);
  a[1] = __smlabb(xo, wo, a[1]);
  a[2] = __smlatt(xe, we, a[2]);
  a[3] = __smlatt(xo, wo, a[3]);
#else
  a[0] += (int32_t)x[0] * w[0];
  a[1] += (int32_t)x[1] * w[1];
  a[2] += (int32_t)x[2] * w[2];
  a[3] += (int32_t)x[3] * w[3];
#endif
}

#if MEMOPT_MVE
/* acc += zero_point * (the weights of the padded taps), for n channels from oc on. */
MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_s8_padding(const memopt_depthwise_conv_2d_s8_params *p,
                                                 const depthwise_s8_window *v, int32_t oc,
                                                 int32_t n, int32_t *acc) {
  const int32_t zero_point = p->input_zero_point;
  const int8_t *w = p->weights + oc;
  int32_t ky;
  int32_t kx;
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t row_inside = ky >= v->ky_begin && ky < v->ky_end;
    for (kx = 0; kx < p->k_w; ++kx) {
      if (!row_inside || kx < v->kx_begin || kx >= v->kx_end) {
        int32_t i = 0;
        for (; i + 4 <= n; i += 4) {
          vst1q_s32(acc + i, vmlaq_n_s32(vld1q_s32(acc + i), vldrbq_s32(w + i), zero_point));
        }
        for (; i < n; ++i) {
          acc[i] += zero_point * w[i];
        }
      }
      w += v->out_c;
    }
  }
}
#else
/* The same of channels from w on, of four if `all` is a constant 1, else of one. Padded taps are runs:
 * before the first one inside, between one row inside and the next, behind the last. */
static MEMOPT_INLINE void depthwise_s8_padded(const memopt_depthwise_conv_2d_s8_params *p,
                                              const depthwise_s8_window *v, const int8_t *w,
                                              const int32_t all, int32_t *acc) {
  const int8_t zero = (int8_t)p->input_zero_point;
  const int8_t zeros[4] = {zero, zero, zero, zero};
  const int32_t columns = v->kx_end - v->kx_begin;
  const int32_t step = v->out_c;
  int32_t sums[4] = {acc[0], all ? acc[1] : 0, all ? acc[2] : 0, all ? acc[3] : 0};
  int32_t rows = v->rows;
  int32_t taps = rows > 0 ? v->ky_begin * p->k_w + v->kx_begin : p->k_h * p->k_w;
  for (;;) {
    for (; taps > 0; --taps) {
      if (all) {
        depthwise_s8_products(zeros, w, sums);
      } else {
        sums[0] += zero * *w;
      }
      w += step;
    }
    if (rows == 0) {
      break;
    }
    --rows;
    w += columns * step;
    taps = rows > 0 ? p->k_w - columns : (p->k_h - v->ky_end + 1) * p->k_w - v->kx_end;
  }
  acc[0] = sums[0];
  if (all) {
    acc[1] = sums[1];
    acc[2] = sums[2];
    acc[3] = sums[3];
  }
}

/* acc += zero_point * (the weights of the padded taps), for n channels from oc on. */
MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_s8_padding(const memopt_depthwise_conv_2d_s8_params *p,
                                                 const depthwise_s8_window *v, int32_t oc,
                                                 int32_t n, int32_t *acc) {
  const int8_t *w = p->weights + oc;
  int32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    depthwise_s8_padded(p, v, w + i, 1, acc + i);
  }
  for (; i < n; ++i) {
    depthwise_s8_padded(p, v, w + i, 0, acc + i);
  }
}
#endif

/* acc = bias + the taps of four neighbouring channels, with weights from w on. x_channel is
 * 1 if each has an input channel of its own, 0 if they share the one at x. `next` is v->next, or a
 * constant null: then there is no test for it from row to row. */
static MEMOPT_INLINE void depthwise_s8_four(const depthwise_s8_window *v, const int8_t *x,
                                            const int8_t *w, const int32_t *bias,
                                            const int32_t x_channel, const void *const *next,
                                            int32_t *acc) {
  int32_t a[4] = {bias[0], bias[1], bias[2], bias[3]};
  const ptrdiff_t at = x - v->row;
  int32_t rows;
  for (rows = v->rows; rows > 0; --rows) {
    const int32_t x_col = v->x_col;
    const int32_t w_col = v->out_c;
    int32_t columns = v->kx_end - v->kx_begin;
    for (; columns > 0; --columns) {
      if (x_channel == 1) {
        depthwise_s8_products(x, w, a);
      } else {
        a[0] += (int32_t)x[0] * w[0];
        a[1] += (int32_t)x[0] * w[1];
        a[2] += (int32_t)x[0] * w[2];
        a[3] += (int32_t)x[0] * w[3];
      }
      x += x_col;
      w += w_col;
    }
    x += v->x_next;
    w += v->w_next;
    if (next && rows > 1) {
      next += v->next_step;
      x = (const int8_t *)*next + at;
    }
  }
  acc[0] = a[0];
  acc[1] = a[1];
  acc[2] = a[2];
  acc[3] = a[3];
}

#if !MEMOPT_MVE
/* The same of n channels, a multiple of four, each with an input channel of its own, under windows of
 * one column; pointers to rows, if there are any, are `step` apart. */
static MEMOPT_INLINE void depthwise_s8_fours(const depthwise_s8_window *v, const int8_t *x,
                                             const int8_t *w, const int32_t *bias, int32_t n,
                                             const void *const *next, const int32_t step,
                                             int32_t *acc) {
  const int32_t x_row = v->x_next + v->x_col;
  const int32_t w_row = v->w_next + v->out_c;
  ptrdiff_t at = x - v->row;
  for (; n > 0; n -= 4) {
    int32_t a[4] = {bias[0], bias[1], bias[2], bias[3]};
    const void *const *row = next;
    const int8_t *from = x;
    const int8_t *by = w;
    int32_t rows;
    for (rows = v->rows; rows > 0; --rows) {
      if (next) {
        from = (const int8_t *)*row + at;
        row += step;
      }
      depthwise_s8_products(from, by, a);
      from += x_row;
      by += w_row;
    }
    acc[0] = a[0];
    acc[1] = a[1];
    acc[2] = a[2];
    acc[3] = a[3];
    acc += 4;
    bias += 4;
    x += 4;
    w += 4;
    at += 4;
  }
}

MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_s8_column(const depthwise_s8_window *v, const int8_t *x,
                                                const int8_t *w, const int32_t *bias, int32_t n,
                                                int32_t *acc) {
  if (v->next == 0) {
    depthwise_s8_fours(v, x, w, bias, n, 0, 0, acc);
  } else if (v->next_step == 1) { /* as a constant it is part of a load */
    depthwise_s8_fours(v, x, w, bias, n, v->next, 1, acc);
  } else {
    depthwise_s8_fours(v, x, w, bias, n, v->next, v->next_step, acc);
  }
}
#endif

#if MEMOPT_MVE
/* acc = bias + the taps of n channels, each with an input channel of its own: of eight if `all` is
 * a constant 1, else of fewer. Of acc eight are written. */
static inline void depthwise_s8_lanes(const depthwise_s8_window *v, const int8_t *x,
                                      const int8_t *w, const int32_t *bias, int32_t n,
                                      const int32_t all, int32_t *acc) {
  const mve_pred16_t lanes = vctp16q((uint32_t)n);
  const void *const *next = v->next;
  const ptrdiff_t at = x - v->row;
  int32x4x2_t sums; /* of even channels, of odd ones */
  int32_t rows;
  if (all) {
    sums = vld2q_s32(bias);
  } else {
    int32_t of[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    memcpy(of, bias, (size_t)n * sizeof *of);
    sums = vld2q_s32(of);
  }
  for (rows = v->rows; rows > 0; --rows) {
    const int32_t x_col = v->x_col;
    const int32_t w_col = v->out_c;
    int32_t columns = v->kx_end - v->kx_begin;
    for (; columns > 0; --columns) {
      const int16x8_t xs = all ? vldrbq_s16(x) : vldrbq_z_s16(x, lanes);
      const int16x8_t ws = all ? vldrbq_s16(w) : vldrbq_z_s16(w, lanes);
      sums.val[0] = vaddq_s32(sums.val[0], vmullbq_int_s16(xs, ws));
      sums.val[1] = vaddq_s32(sums.val[1], vmulltq_int_s16(xs, ws));
      x += x_col;
      w += w_col;
    }
    x += v->x_next;
    w += v->w_next;
    if (next && rows > 1) {
      next += v->next_step;
      x = (const int8_t *)*next + at;
    }
  }
  vst2q_s32(acc, sums);
}

static MEMOPT_NOINLINE void depthwise_s8_eight(const depthwise_s8_window *v, const int8_t *x,
                                               const int8_t *w, const int32_t *bias,
                                               int32_t *acc) {
  depthwise_s8_lanes(v, x, w, bias, 8, 1, acc);
}

static MEMOPT_NOINLINE void depthwise_s8_fewer(const depthwise_s8_window *v, const int8_t *x,
                                               const int8_t *w, const int32_t *bias, int32_t n,
                                               int32_t *acc) {
  depthwise_s8_lanes(v, x, w, bias, n, 0, acc);
}
#endif

MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_s8_own(const depthwise_s8_window *v, const int8_t *x,
                                             const int8_t *w, const int32_t *bias, int32_t *acc) {
  if (v->next) {
    depthwise_s8_four(v, x, w, bias, 1, v->next, acc);
  } else {
    depthwise_s8_four(v, x, w, bias, 1, 0, acc);
  }
}

MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_s8_shared(const depthwise_s8_window *v, const int8_t *x,
                                                const int8_t *w, const int32_t *bias,
                                                int32_t *acc) {
  if (v->next) {
    depthwise_s8_four(v, x, w, bias, 0, v->next, acc);
  } else {
    depthwise_s8_four(v, x, w, bias, 0, 0, acc);
  }
}

MEMOPT_FAST
static MEMOPT_NOINLINE int32_t depthwise_s8_one(const depthwise_s8_window *v, const int8_t *x,
                                                const int8_t *w) {
  const void *const *next = v->next;
  const ptrdiff_t at = x - v->row;
  int32_t acc = 0;
  int32_t rows;
  for (rows = v->rows; rows > 0; --rows) {
    int32_t columns = v->kx_end - v->kx_begin;
    for (; columns > 0; --columns) {
      acc += (int32_t)*x * *w;
      x += v->x_col;
      w += v->out_c;
    }
    x += v->x_next;
    w += v->w_next;
    if (next && rows > 1) {
      next += v->next_step;
      x = (const int8_t *)*next + at;
    }
  }
  return acc;
}

/* Channels [oc, oc + n) of one pixel. They are channels of their own (shared is 0), or all made
 * of the input channel at x. */
MEMOPT_FAST
static void depthwise_s8_channels(const memopt_depthwise_conv_2d_s8_params *p,
                                  const depthwise_s8_window *v, const memopt_finish *finish,
                                  int32_t oc, int32_t n, int32_t shared, const int8_t *x,
                                  int8_t *restrict out) {
  const int8_t *w = p->weights + (v->ky_begin * p->k_w + v->kx_begin) * v->out_c + oc;
  int32_t acc[MEMOPT_TILE];
  const int32_t *bias = p->bias + oc;
  const int32_t x_channel = shared ? 0 : 1;
  int32_t i = 0;
#if MEMOPT_MVE
  for (; !shared && i + 8 <= n; i += 8) {
    depthwise_s8_eight(v, x + i, w + i, bias + i, acc + i);
  }
  if (!shared && i < n) {
    depthwise_s8_fewer(v, x + i, w + i, bias + i, n - i, acc + i);
    i = n;
  }
#else
  if (!shared && v->kx_end - v->kx_begin == 1) {
    i = n / 4 * 4;
    depthwise_s8_column(v, x, w, bias, i, acc);
  }
#endif
  for (; i + 4 <= n; i += 4) {
    if (shared) {
      depthwise_s8_shared(v, x, w + i, bias + i, acc + i);
    } else {
      depthwise_s8_own(v, x + i, w + i, bias + i, acc + i);
    }
  }
  for (; i < n; ++i) {
    acc[i] = bias[i] + depthwise_s8_one(v, x + i * x_channel, w + i);
  }
  if (!v->full) {
    depthwise_s8_padding(p, v, oc, n, acc);
  }
  memopt_finish_s8(finish, p->multiplier + oc, p->shift + oc, n, acc, out + oc);
}

#if MEMOPT_DEPTHWISE_COLUMN
/* acc = bias + zero_point * (the weights of the padded taps), for n channels from oc on, under
 * windows of one column and fewer than 256 rows. */
MEMOPT_FAST
static void depthwise_s8_padded_column(const memopt_depthwise_conv_2d_s8_params *p,
                                       const depthwise_s8_window *v, int32_t oc, int32_t n,
                                       int32_t *acc) {
  const int32_t zero_point = p->input_zero_point;
  int32_t i;
  for (i = oc; i < oc + n; i += 4) {
    const int8_t *w = p->weights + i;
    uint32_t even = 0;
    uint32_t odd = 0;
    int32_t ky;
    for (ky = 0; ky < p->k_h; ++ky) {
      if (ky == v->ky_begin) {
        ky += v->rows;
        w += v->rows * v->out_c;
        if (ky == p->k_h) {
          break;
        }
      }
      even = memopt_add_even_s8(even, memopt_load_s8x4(w));
      odd = memopt_add_odd_s8(odd, memopt_load_s8x4(w));
      w += v->out_c;
    }
    acc[0] = p->bias[i] + zero_point * (int16_t)even;
    acc[1] = p->bias[i + 1] + zero_point * (int16_t)odd;
    acc[2] = p->bias[i + 2] + zero_point * (int16_t)(even >> 16);
    acc[3] = p->bias[i + 3] + zero_point * (int16_t)(odd >> 16);
    acc += 4;
  }
}

/* The fours of channels of a pixel whose window has one column, of an operator that rounds as
 * ONNX's do. Returns how many channels they are. */
MEMOPT_FAST
static int32_t depthwise_s8_floats(const memopt_depthwise_conv_2d_s8_params *p,
                                   const depthwise_s8_window *v, int8_t *out) {
  const int32_t channels = v->out_c & ~3;
  int32_t acc[MEMOPT_TILE];
  memopt_depthwise_column of;
  int32_t oc;
  of.first = v->next ? (const void *)v->next : v->x;
  of.step = v->next ? v->next_step * (int32_t)sizeof(void *) : v->x_next + v->x_col;
  of.at = (int32_t)(v->x - v->row);
  of.w = p->weights + v->ky_begin * v->out_c;
  of.w_row = v->out_c;
  of.taps = v->rows;
  of.bias = p->bias;
  of.multiplier = p->multiplier;
  of.out = out;
  of.zero_point = p->output_zero_point;
  for (oc = 0; oc < channels; oc += 4 * of.fours) {
    const int32_t ahead = channels - oc;
    const int32_t n = v->full || ahead < MEMOPT_TILE ? ahead : MEMOPT_TILE;
    if (!v->full) {
      depthwise_s8_padded_column(p, v, oc, n, acc);
      of.bias = acc;
    }
    of.fours = n / 4;
    if (v->next) {
      memopt_depthwise_column_far(&of);
    } else {
      memopt_depthwise_column_near(&of);
    }
    of.fours = n / 4;
  }
  return channels;
}
#endif

#if MEMOPT_DEPTHWISE_COLUMN && MEMOPT_WITH_COLUMNS
#define DEPTHWISE_S8_AHEAD 32 /* channels at a time where taps are padding */

/* Every third pointer of `to` up to `end`: to the taps of a row of one pixel from channel `oc` on, of
 * whose window the first tap is in row iy; of padding to `zeros`. */
MEMOPT_FAST
static inline void depthwise_s8_taps(const memopt_depthwise_conv_2d_s8_params *p,
                                     const memopt_rows *rows, const void *const *in, int32_t iy,
                                     int32_t oc, const int8_t *zeros, const int8_t **to,
                                     const int8_t *const *end) {
  const uint32_t height = (uint32_t)p->in_h;
  for (; to < end; to += 3) {
    *to = (uint32_t)iy < height ? (const int8_t *)memopt_in_row(rows, in, 0, iy) + oc : zeros;
    iy += p->dilation_h;
  }
}

/* The same for two rows next to each other that have no padding, from channel 0 on. */
MEMOPT_FAST
static inline void depthwise_s8_full_taps(const memopt_depthwise_conv_2d_s8_params *p,
                                          const memopt_rows *rows, const void *const *in,
                                          int32_t iy, const int8_t **to,
                                          const int8_t *const *end) {
  const int32_t stride = p->stride_h;
  const int32_t step = p->dilation_h;
  if (rows->in_count > 1) {
    const void *const *row = in + (iy - rows->in_first);
    for (; to < end; to += 3) {
      to[0] = (const int8_t *)row[0];
      to[1] = (const int8_t *)row[stride];
      row += step;
    }
  } else {
    const int8_t *row = (const int8_t *)memopt_in_row(rows, in, 0, iy);
    const int32_t apart = stride * rows->in_stride;
    for (; to < end; to += 3) {
      to[0] = row;
      to[1] = row + apart;
      row += step * rows->in_stride;
    }
  }
}

/* Rows of one pixel from the first on, two at a time, by memopt_depthwise_column_two. Returns the first
 * that is left. */
MEMOPT_FAST
static MEMOPT_NOINLINE int32_t depthwise_s8_twos(const memopt_depthwise_conv_2d_s8_params *p,
                                                 const memopt_rows *rows, const void *const *in,
                                                 int8_t *to) {
  const int8_t *taps[3 * MEMOPT_COLUMN_TWO];
  const int8_t **const first = taps + 3 * (MEMOPT_COLUMN_TWO - p->k_h);
  const int8_t *const *const end = taps + 3 * MEMOPT_COLUMN_TWO;
  const int32_t span = p->stride_h + (p->k_h - 1) * p->dilation_h;
  int8_t zeros[DEPTHWISE_S8_AHEAD];
  memopt_depthwise_two of;
  int32_t weighs = -1; /* the channel from whose weights on pointers are in `taps` */
  int32_t oy, oc;
  of.taps = taps;
  of.skip = (MEMOPT_COLUMN_TWO - p->k_h) * MEMOPT_TWO_TAP_CODE;
  of.zero_point = p->output_zero_point;
  memset(zeros, p->input_zero_point, sizeof zeros);
  for (oy = rows->out_begin; oy + 1 < rows->out_end; oy += 2) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    const int32_t full = iy >= 0 && iy + span < p->in_h;
    for (oc = 0; oc < p->in_c; oc += of.channels) {
      of.channels = p->in_c - oc;
      if (full) {
        depthwise_s8_full_taps(p, rows, in, iy, first, end);
      } else {
        of.channels = of.channels < DEPTHWISE_S8_AHEAD ? of.channels : DEPTHWISE_S8_AHEAD;
        depthwise_s8_taps(p, rows, in, iy, oc, zeros, first, end);
        depthwise_s8_taps(p, rows, in, iy + p->stride_h, oc, zeros, first + 1, end);
      }
      if (weighs != oc) {
        const int8_t *w = p->weights + oc;
        const int8_t **tap;
        for (tap = first; tap < end; tap += 3) {
          tap[2] = w;
          w += p->in_c;
        }
        weighs = oc;
      }
      of.bias = p->bias + oc;
      of.multiplier = p->multiplier + oc;
      of.out0 = to + oc;
      of.out1 = of.out0 + rows->out_stride;
      memopt_depthwise_column_two(&of);
    }
    to += 2 * rows->out_stride;
  }
  return oy;
}

/* Whether the function above computes two rows at once. */
static inline int32_t depthwise_s8_by_twos(const memopt_depthwise_conv_2d_s8_params *p) {
  return p->out_w == 1 && p->k_w == 1 && p->pad_left == 0 && p->depth_multiplier == 1 &&
         (p->in_c & 3) == 0 && p->k_h <= MEMOPT_COLUMN_TWO && *p->shift == MEMOPT_EVEN &&
         p->act_min == -128 && p->act_max == 127;
}
#define DEPTHWISE_S8_APART MEMOPT_NOINLINE
#else
#define DEPTHWISE_S8_APART
#endif

MEMOPT_FAST
static void depthwise_s8_pixel(const memopt_depthwise_conv_2d_s8_params *p,
                               const depthwise_s8_window *v, const memopt_finish *finish,
                               int8_t *restrict out) {
  const int32_t shared = p->depth_multiplier != 1;
  const int32_t each = shared ? p->depth_multiplier : v->out_c;
  const int8_t *x = v->x;
  int32_t oc = 0;
#if MEMOPT_DEPTHWISE_COLUMN
  if (!shared && p->k_w == 1 && v->rows > 0 && p->k_h < 256 && *p->shift == MEMOPT_EVEN &&
      p->act_min == -128 && p->act_max == 127) {
    oc = depthwise_s8_floats(p, v, out);
  }
#endif
  while (oc < v->out_c) {
    const int32_t end = shared ? oc + each : v->out_c;
    while (oc < end) {
      const int32_t n = end - oc < MEMOPT_TILE ? end - oc : MEMOPT_TILE;
      depthwise_s8_channels(p, v, finish, oc, n, shared, shared ? x : x + oc, out);
      oc += n;
    }
    ++x;
  }
}

/* Rows of the result from `first` on. */
MEMOPT_FAST
static DEPTHWISE_S8_APART void depthwise_s8_rows(const memopt_depthwise_conv_2d_s8_params *p,
                                                 const memopt_rows *rows, const void *const *in,
                                                 int32_t first, void *out) {
  depthwise_s8_window v;
  memopt_finish finish;
  int32_t oy;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  v.next = 0;
  v.next_step = p->dilation_h;
  v.out_c = p->in_c * p->depth_multiplier;
  v.x_col = p->dilation_w * p->in_c;
  for (oy = first; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *restrict output = (int8_t *)memopt_out_row(rows, out, oy);
    int32_t columns = -1; /* of the pixel before */
    int32_t ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    v.row = 0;
    if (v.ky_begin < v.ky_end) {
      const int32_t y = iy + v.ky_begin * p->dilation_h;
      v.row = (const int8_t *)memopt_in_row(rows, in, 0, y);
      v.next = rows->in_count > 1 ? in + (y - rows->in_first) : 0;
    }
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      if (v.kx_end - v.kx_begin != columns) {
        columns = v.kx_end - v.kx_begin;
        v.full = v.ky_end - v.ky_begin == p->k_h && columns == p->k_w;
        v.rows = columns > 0 ? v.ky_end - v.ky_begin : 0;
        v.x_next = p->dilation_h * rows->in_stride - columns * v.x_col;
        v.w_next = (p->k_w - columns) * v.out_c;
      }
      v.x = v.row;
      if (v.rows > 0) {
        v.x += (ix + v.kx_begin * p->dilation_w) * p->in_c;
      }
      depthwise_s8_pixel(p, &v, &finish, output);
      output += v.out_c;
    }
  }
}

MEMOPT_FAST
KERNEL {
  int32_t oy = rows->out_begin;
  (void)scratch;
#if MEMOPT_DEPTHWISE_COLUMN && MEMOPT_WITH_COLUMNS
  if (oy + 1 < rows->out_end && depthwise_s8_by_twos(p)) {
    oy = depthwise_s8_twos(p, rows, in, (int8_t *)out);
  }
#endif
  if (oy < rows->out_end) {
    depthwise_s8_rows(p, rows, in, oy, out);
  }
}
