/* DEPTHWISE_CONV_2D over its operand, NHWC, a filter to a channel: the walk over channels and their
 * windows, for every type. The rows of one channel under the window are kept in scratch, so that
 * what is in place may be written over: whoever plans it makes sure that no row is before it was
 * kept.
 */
#ifndef MEMOPT_DEPTHWISE_IN_PLACE_H
#define MEMOPT_DEPTHWISE_IN_PLACE_H

#include "memopt_common.h"

/* The taps of a window that are in the image; the kept row of the first, its column. */
typedef struct {
  int32_t ky_begin, ky_end, row;
  int32_t kx_begin, kx_end, column;
} memopt_kept_window;

/* `acc` plus `product` of each kept element *x under the window and its weight *w. */
#define MEMOPT_KEPT_SUM(type, p, v, kept, weights, acc, product)         \
  do {                                                                   \
    const type *first = (weights);                                       \
    int32_t row = (v)->row;                                              \
    int32_t rows;                                                        \
    first += ((v)->ky_begin * (p)->k_w + (v)->kx_begin) * (p)->in_c;     \
    for (rows = (v)->ky_end - (v)->ky_begin; rows > 0; --rows) {         \
      const type *x = (kept) + row * (p)->in_w + (v)->column;            \
      const type *w = first;                                             \
      int32_t n;                                                         \
      for (n = (v)->kx_end - (v)->kx_begin; n > 0; --n) {                \
        (acc) += (product);                                              \
        x += (p)->dilation_w;                                            \
        w += (p)->in_c;                                                  \
      }                                                                  \
      first += (p)->k_w * (p)->in_c;                                     \
      row += (p)->dilation_h;                                            \
      if (row >= (p)->span) {                                            \
        row -= (p)->span;                                                \
      }                                                                  \
    }                                                                    \
  } while (0)

/* Statement `made` for each window v of each channel c, which writes *output of what is `kept`. */
#define MEMOPT_DEPTHWISE_IN_PLACE(type, p, made)                                               \
  do {                                                                                         \
    type *const kept = (type *)scratch;                                                        \
    int32_t c;                                                                                 \
    for (c = 0; c < (p)->in_c; ++c) {                                                          \
      const type *next = (const type *)in[0] + c; /* row `loaded`, and then the next */        \
      type *output = (type *)out + c;                                                          \
      int32_t loaded = 0;                                                                      \
      int32_t oy;                                                                              \
      for (oy = 0; oy < rows->out_end; ++oy) {                                                 \
        const int32_t iy = oy * (p)->stride_h - (p)->pad_top;                                  \
        memopt_kept_window v;                                                                  \
        int32_t ox;                                                                            \
        memopt_valid_taps(iy, (p)->in_h, (p)->k_h, (p)->dilation_h, &v.ky_begin, &v.ky_end);   \
        v.row = (iy + v.ky_begin * (p)->dilation_h) % (p)->span;                               \
        for (; loaded < iy + (p)->span && loaded < (p)->in_h; ++loaded) {                      \
          type *const row = kept + loaded % (p)->span * (p)->in_w;                             \
          int32_t x;                                                                           \
          for (x = 0; x < (p)->in_w; ++x) {                                                    \
            row[x] = *next;                                                                    \
            next += (p)->in_c;                                                                 \
          }                                                                                    \
        }                                                                                      \
        for (ox = 0; ox < (p)->out_w; ++ox) {                                                  \
          const int32_t ix = ox * (p)->stride_w - (p)->pad_left;                               \
          memopt_valid_taps(ix, (p)->in_w, (p)->k_w, (p)->dilation_w, &v.kx_begin, &v.kx_end); \
          v.column = ix + v.kx_begin * (p)->dilation_w;                                        \
          made;                                                                                \
          output += (p)->in_c;                                                                 \
        }                                                                                      \
      }                                                                                        \
    }                                                                                          \
  } while (0)

#endif
