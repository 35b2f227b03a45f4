/* The taps of a transposed convolution that reach one place of the result. */
#ifndef MEMOPT_TAPS_H
#define MEMOPT_TAPS_H

#include "memopt_common.h"

/* Of tap `tap` of a window, whether an element of the input reaches place `at` of the result, before
 * the padding is cut off, by it; and which. */
static inline int32_t memopt_reached(int32_t at, int32_t tap, int32_t dilation, int32_t stride,
                                     int32_t extent, int32_t *from) {
  const int32_t place = at - tap * dilation;
  *from = place / stride;
  return place >= 0 && *from < extent && *from * stride == place;
}

/* Each channel of each pixel of the rows that a call computes: `first` of the channel `oc`, then
 * `next` for each product of `x`, of `type`, and `w`, of `weight`, then what is `made` of it, of
 * `result`. `sum` is of type `total`. p is the kernel's parameters; rows, in and out its arguments. */
#define MEMOPT_TRANSPOSED(type, weight, total, result, p, weights_of, first, next, made)          \
  do {                                                                                            \
    int32_t oy, ox, oc, ky, kx, k;                                                                \
    for (oy = rows->out_begin; oy < rows->out_end; ++oy) {                                        \
      result *output = (result *)memopt_out_row(rows, out, oy);                                   \
      for (ox = 0; ox < (p)->out_w; ++ox) {                                                       \
        for (oc = 0; oc < (p)->out_c; ++oc) {                                                     \
          const int32_t group = oc / (p)->group_out * (p)->k_c;                                   \
          total sum = (first);                                                                    \
          for (ky = (p)->k_h - 1; ky >= 0; --ky) {                                                \
            int32_t iy, ix;                                                                       \
            if (!memopt_reached(oy + (p)->pad_top, ky, (p)->dilation_h, (p)->stride_h, (p)->in_h, \
                                &iy)) {                                                           \
              continue;                                                                           \
            }                                                                                     \
            for (kx = (p)->k_w - 1; kx >= 0; --kx) {                                              \
              const type *at_x;                                                                   \
              const weight *at_w;                                                                 \
              if (!memopt_reached(ox + (p)->pad_left, kx, (p)->dilation_w, (p)->stride_w,         \
                                  (p)->in_w, &ix)) {                                              \
                continue;                                                                         \
              }                                                                                   \
              at_x = (const type *)memopt_in_row(rows, in, 0, iy) + ix * (p)->in_c + group;       \
              at_w = (weights_of) + ((oc * (p)->k_h + ky) * (p)->k_w + kx) * (p)->k_c;            \
              for (k = 0; k < (p)->k_c; ++k) {                                                    \
                const type x = at_x[k];                                                           \
                const weight w = at_w[k];                                                         \
                next;                                                                             \
              }                                                                                   \
            }                                                                                     \
          }                                                                                       \
          *output++ = (made);                                                                     \
        }                                                                                         \
      }                                                                                           \
    }                                                                                             \
  } while (0)

#endif
