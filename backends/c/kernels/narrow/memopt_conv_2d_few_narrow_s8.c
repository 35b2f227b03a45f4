/* CONV_2D, int8, NHWC, weights packed for two pixels times four channels, whose windows are no words,
 * but few bytes, as those of images: they are put together on the stack, see memopt_narrow_s8.h.
 */
#include "memopt_common.h"
#include "memopt_narrow_s8.h"

#define CONV_2D_FEW_NARROW 32 /* of a window, at most */

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point;
  memopt_packed packed;
} memopt_conv_2d_few_narrow_s8_params;

/* So few bytes that a call would take longer. */
static inline void conv_2d_few_narrow_copy(int8_t *to, const int8_t *from, int32_t n) {
  for (; n >= 4; n -= 4) {
    const uint32_t word = memopt_word(from);
    memcpy(to, &word, sizeof word);
    to += 4;
    from += 4;
  }
  for (; n > 0; --n) {
    *to++ = *from++;
  }
}

/* The window whose first tap is in row iy and column ix, tap by tap. */
static MEMOPT_NOINLINE void conv_2d_few_narrow_window(const memopt_conv_2d_few_narrow_s8_params *p,
                                                      const memopt_rows *rows,
                                                      const void *const *in, int32_t iy, int32_t ix,
                                                      int8_t *to) {
  const int32_t c = p->in_c;
  const int32_t alike = p->dilation_w == 1; /* neighbours are one run */
  int32_t begin, end, ky, kx;
  memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &begin, &end);
  if (begin > 0 || end < p->k_w || iy < 0 || iy + (p->k_h - 1) * p->dilation_h >= p->in_h) {
    memset(to, p->input_zero_point, CONV_2D_FEW_NARROW);
  }
  for (ky = 0; ky < p->k_h; ++ky) {
    if (iy >= 0 && iy < p->in_h && begin < end) {
      const int8_t *from =
          (const int8_t *)memopt_in_row(rows, in, 0, iy) + (ix + begin * p->dilation_w) * c;
      for (kx = begin; kx < end; kx += alike ? end - begin : 1) {
        conv_2d_few_narrow_copy(to + kx * c, from, alike ? (end - begin) * c : c);
        from += p->dilation_w * c;
      }
    }
    to += p->k_w * c;
    iy += p->dilation_h;
  }
}

KERNEL {
  int8_t window[2][CONV_2D_FEW_NARROW] = {{0}, {0}}; /* behind its taps are some for weights of 0 */
  memopt_run runs[2];
  int32_t oy, ox;
  (void)scratch;
  runs[0].begin = window[0];
  runs[0].end = window[0] + p->packed.taps;
  runs[1].begin = 0;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *const to = (int8_t *)memopt_out_row(rows, out, oy);
    for (ox = 0; ox < p->out_w; ox += 2) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      int8_t *const at = to + ox * p->out_c;
      const int32_t two = ox + 1 < p->out_w;
      conv_2d_few_narrow_window(p, rows, in, iy, ix, window[0]);
      if (two) {
        conv_2d_few_narrow_window(p, rows, in, iy, ix + p->stride_w, window[1]);
      }
      memopt_narrow_pixels(&p->packed, runs, CONV_2D_FEW_NARROW, p->out_c, at,
                           two ? at + p->out_c : 0);
    }
    if (!p->packed.full) {
      memopt_clamp_s8(to, p->out_w * p->out_c, p->packed.act_min, p->packed.act_max);
    }
  }
}
