/* Convolutions, NHWC, that add one product after the other: the walk over rows, windows, filters and
 * the taps that are in the image. p is the kernel's parameters.
 */
#ifndef MEMOPT_WINDOWS_H
#define MEMOPT_WINDOWS_H

#include "memopt_common.h"

/* Statement `made` for each of `filters`, oc, at each window, whose first tap would be row iy and
 * column ix of the input; it leaves an element at *output. */
#define MEMOPT_WINDOWS(type, p, filters, made)                                           \
  do {                                                                                   \
    int32_t oy;                                                                          \
    for (oy = rows->out_begin; oy < rows->out_end; ++oy) {                               \
      const int32_t iy = oy * (p)->stride_h - (p)->pad_top;                              \
      type *restrict output = (type *)memopt_out_row(rows, out, oy);                     \
      int32_t ky_begin, ky_end, ox;                                                      \
      memopt_valid_taps(iy, (p)->in_h, (p)->k_h, (p)->dilation_h, &ky_begin, &ky_end);   \
      for (ox = 0; ox < (p)->out_w; ++ox) {                                              \
        const int32_t ix = ox * (p)->stride_w - (p)->pad_left;                           \
        int32_t kx_begin, kx_end, oc;                                                    \
        memopt_valid_taps(ix, (p)->in_w, (p)->k_w, (p)->dilation_w, &kx_begin, &kx_end); \
        for (oc = 0; oc < (filters); ++oc) {                                             \
          made;                                                                          \
          ++output;                                                                      \
        }                                                                                \
      }                                                                                  \
    }                                                                                    \
  } while (0)

/* Statement `added` for each element x under filter oc and its weight w; weights are [out_c][k_h]
 * [k_w][k_c], `row` is row y of the input, `per_group` the filters of a group. */
#define MEMOPT_DENSE_TAPS(type, kind, p, per_group, weights, row, added)                   \
  do {                                                                                     \
    const int32_t group = oc / (per_group) * (p)->k_c; /* its first channel */             \
    int32_t ky, kx, n;                                                                     \
    for (ky = ky_begin; ky < ky_end; ++ky) {                                               \
      const int32_t y = iy + ky * (p)->dilation_h;                                         \
      const type *const across = (const type *)(row);                                      \
      for (kx = kx_begin; kx < kx_end; ++kx) {                                             \
        const type *xs = across + (ix + kx * (p)->dilation_w) * (p)->in_c + group;         \
        const kind *ws = (weights) + ((oc * (p)->k_h + ky) * (p)->k_w + kx) * (p)->k_c;    \
        for (n = 0; n < (p)->k_c; ++n) {                                                   \
          const type x = xs[n];                                                            \
          const kind w = ws[n];                                                            \
          added;                                                                           \
        }                                                                                  \
      }                                                                                    \
    }                                                                                      \
  } while (0)

/* The same of a filter that reads one channel; weights are [k_h][k_w][filters]. */
#define MEMOPT_DEPTHWISE_TAPS(type, kind, p, filters, weights, row, added)                 \
  do {                                                                                     \
    const int32_t channel = oc / (p)->depth_multiplier;                                    \
    int32_t ky, kx;                                                                        \
    for (ky = ky_begin; ky < ky_end; ++ky) {                                               \
      const int32_t y = iy + ky * (p)->dilation_h;                                         \
      const type *const across = (const type *)(row);                                      \
      const kind *ws = (weights) + (ky * (p)->k_w + kx_begin) * (filters) + oc;            \
      for (kx = kx_begin; kx < kx_end; ++kx) {                                             \
        const type x = across[(ix + kx * (p)->dilation_w) * (p)->in_c + channel];          \
        const kind w = *ws;                                                                \
        added;                                                                             \
        ws += (filters);                                                                   \
      }                                                                                    \
    }                                                                                      \
  } while (0)

#endif
