/* AVERAGE_POOL_2D, int8, NHWC: some channels are summed up at a time, one row after the other. */
#ifndef MEMOPT_AVERAGE_POOL_2D_S8_H
#define MEMOPT_AVERAGE_POOL_2D_S8_H

#include "memopt_dsp_s8.h"
#include "memopt_pool_2d.h"

#define AVERAGE_POOL_2D_CHANNELS 16
#define AVERAGE_POOL_2D_TAPS 255 /* int8 whose sum is an int16 whatever they are */

/* What is `before`, nothing if that is null, and the sums over pixels `apart` bytes from each other, of
 * `n` channels. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void average_pool_2d_s8_add(const int8_t *from, int32_t apart, int32_t taps,
                                                   const int32_t *before, int32_t *sums,
                                                   int32_t n) {
  static const int32_t none[4] = {0, 0, 0, 0};
  const int32_t step = before ? 4 : 0;
  int32_t i;
  before = before ? before : none;
#if MEMOPT_DOT_DSP
  for (; n >= 4 && taps <= AVERAGE_POOL_2D_TAPS; n -= 4) {
    const int8_t *x = from;
    uint32_t even = 0, odd = 0; /* of bytes 0 and 2, 1 and 3 */
    for (i = taps; i > 0; --i) {
      const uint32_t word = memopt_load_s8x4(x);
      even = memopt_add_even_s8(even, word);
      odd = memopt_add_odd_s8(odd, word);
      x += apart;
    }
    sums[0] = (int16_t)(even & 0xffffu) + before[0];
    sums[1] = (int16_t)(odd & 0xffffu) + before[1];
    sums[2] = (int16_t)(even >> 16) + before[2];
    sums[3] = (int16_t)(odd >> 16) + before[3];
    from += 4;
    before += step;
    sums += 4;
  }
#endif
  for (; n > 0; --n) {
    const int8_t *x = from++;
    int32_t sum = *before;
    for (i = taps; i > 0; --i) {
      sum += *x;
      x += apart;
    }
    *sums++ = sum;
    before += step / 4;
  }
}

/* A kernel: `mean` makes the result of its parameters p, a sum, and how many were added. */
#define MEMOPT_AVERAGE_POOL_2D_S8(mean, p)                                               \
  do {                                                                                   \
    const memopt_pool_2d_window *const w = &p->window;                                   \
    const memopt_part part = memopt_part_of(rows, in, p->parts);                         \
    const int32_t *before = (const int32_t *)part.before;                                \
    int32_t *sums = (int32_t *)out;                                                      \
    int32_t here[AVERAGE_POOL_2D_CHANNELS];                                              \
    int32_t oy, ox, c, n, y, k;                                                          \
    (void)scratch;                                                                       \
    here[0] = 0; /* a window has a row, which cppcheck does not know */                  \
    for (oy = rows->out_begin; oy < rows->out_end; ++oy) {                               \
      const int32_t iy = (p->parts > 0 ? 0 : oy) * w->stride_h - w->pad_top;             \
      int8_t *output = (int8_t *)memopt_out_row(rows, out, oy);                          \
      int32_t ky_begin, ky_end, y_begin, y_end;                                          \
      memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);                     \
      y_begin = p->parts > 0 ? oy : iy + ky_begin;                                       \
      y_end = p->parts > 0 ? oy + 1 : iy + ky_end;                                       \
      for (ox = 0; ox < w->out_w; ++ox) {                                                \
        const int32_t ix = ox * w->stride_w - w->pad_left;                               \
        int32_t kx_begin, kx_end, count;                                                 \
        memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);                   \
        count = (ky_end - ky_begin) * (kx_end - kx_begin);                               \
        for (c = 0; c < w->channels; c += n) {                                           \
          const int32_t *added = before ? before + c : 0;                                \
          int32_t *const to = part.last ? here : sums + c;                               \
          n = w->channels - c;                                                           \
          n = part.last && n > AVERAGE_POOL_2D_CHANNELS ? AVERAGE_POOL_2D_CHANNELS : n;  \
          for (y = y_begin; y < y_end; ++y) {                                            \
            const int8_t *const row = (const int8_t *)memopt_in_row(rows, in, 0, y);     \
            average_pool_2d_s8_add(row + (ix + kx_begin) * w->channels + c, w->channels, \
                                   kx_end - kx_begin, added, to, n);                     \
            added = to;                                                                  \
          }                                                                              \
          for (k = 0; part.last && k < n; ++k) {                                         \
            *output++ = mean(p, to[k], count);                                           \
          }                                                                              \
        }                                                                                \
        before = before ? before + w->channels : 0;                                      \
        sums += part.last ? 0 : w->channels;                                             \
      }                                                                                  \
    }                                                                                    \
  } while (0)

#endif
