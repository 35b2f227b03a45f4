/* CONV_2D, int8, NHWC, weights packed for two pixels times four channels, whose windows are read
 * where they lie, see memopt_narrow_s8.h: without scratch, and slower than memopt_conv_2d_packed_s8.
 */
#include "memopt_common.h"
#include "memopt_narrow_s8.h"

#define CONV_2D_NARROW_RUNS 10 /* of a window, at most */

typedef struct {
  int32_t in_h, in_w, in_c; /* in_c: a multiple of 4, or a window is one run without padding */
  int32_t out_w, out_c;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  const int8_t *padding; /* k_w + stride_w pixels of zero points, or null if nothing is padded */
  memopt_packed packed;
} memopt_conv_2d_narrow_s8_params;

/* `bytes` more of a window, behind those that are found. */
static inline memopt_run *conv_2d_narrow_add(memopt_run *run, const int8_t *begin, int32_t bytes) {
  if (bytes == 0) {
    return run;
  }
  run->begin = begin;
  run->end = begin + bytes;
  return run + 1;
}

/* The runs of a window whose first tap is in row iy and column ix. */
static MEMOPT_NOINLINE void conv_2d_narrow_find(const memopt_conv_2d_narrow_s8_params *p,
                                                const memopt_rows *rows, const void *const *in,
                                                int32_t iy, int32_t ix, memopt_run *run) {
  const int32_t c = p->in_c;
  const int32_t alike = p->dilation_w == 1; /* neighbours are one run */
  int32_t begin, end, ky, kx;
  memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &begin, &end);
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t inside = iy >= 0 && iy < p->in_h && begin < end;
    const int32_t first = inside ? begin : p->k_w;
    const int32_t last = inside ? end : p->k_w;
    run = conv_2d_narrow_add(run, p->padding, first * c);
    if (inside) {
      const int8_t *from =
          (const int8_t *)memopt_in_row(rows, in, 0, iy) + (ix + first * p->dilation_w) * c;
      for (kx = first; kx < last; kx += alike ? last - first : 1) {
        run = conv_2d_narrow_add(run, from, alike ? (last - first) * c : c);
        from += p->dilation_w * c;
      }
    }
    run = conv_2d_narrow_add(run, p->padding, (p->k_w - last) * c);
    iy += p->dilation_h;
  }
  run->begin = 0;
}

/* One run, of which `rest` bytes are no word: they are read with what is behind them in the row, for
 * weights of 0, or with what is behind them in `last`. */
static inline void conv_2d_narrow_complete(memopt_run *run, int32_t rest, int32_t more,
                                           int8_t last[4]) {
  if (more) {
    run->end += 4 - rest;
  } else {
    run->end -= rest;
    memcpy(last, run->end, (size_t)rest);
    conv_2d_narrow_add(run + 1, last, 4)->begin = 0;
  }
}

/* The same runs `by` bytes further on; padding stays. */
static inline void conv_2d_narrow_move(memopt_run *run, int32_t by, const int8_t *padding) {
  for (; run->begin != 0; ++run) {
    if (run->begin != padding) {
      run->begin += by;
      run->end += by;
    }
  }
}

KERNEL {
  const int32_t apart = p->stride_w * p->in_c;
  const int32_t reach = (p->k_w - 1) * p->dilation_w;
  const int32_t rest = p->k_w * p->in_c & 3;
  const int32_t furthest = p->in_w - reach - (rest != 0); /* column of a window, and no more */
  memopt_run runs[CONV_2D_NARROW_RUNS + 1];
  int8_t last[4] = {0, 0, 0, 0};
  int32_t oy, ox;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    int8_t *const to = (int8_t *)memopt_out_row(rows, out, oy);
    int8_t *at = to;
    int32_t ix = -p->pad_left;
    int32_t two = 0;
    for (ox = 0; ox < p->out_w; ox += two ? 2 : 1) {
      const int32_t before = two;
      two = ox + 1 < p->out_w && ix >= 0 && ix + p->stride_w < furthest;
      if (two && before) {
        conv_2d_narrow_move(runs, 2 * apart, p->padding);
      } else {
        conv_2d_narrow_find(p, rows, in, oy * p->stride_h - p->pad_top, ix, runs);
        if (rest != 0) {
          conv_2d_narrow_complete(runs, rest, ix < furthest, last);
        }
      }
      memopt_narrow_pixels(&p->packed, runs, apart, p->out_c, at, two ? at + p->out_c : 0);
      at += two ? 2 * p->out_c : p->out_c;
      ix += two ? 2 * p->stride_w : p->stride_w;
    }
    if (!p->packed.full) {
      memopt_clamp_s8(to, p->out_w * p->out_c, p->packed.act_min, p->packed.act_max);
    }
  }
}
