/* RESIZE_BILINEAR: the walk over the result, for elements of every type. */
#ifndef MEMOPT_RESIZE_BILINEAR_H
#define MEMOPT_RESIZE_BILINEAR_H

#include "memopt_common.h"

/* p is the kernel's parameters; `value` is made of the elements tl, bl, tr, br (top and bottom, left and
 * right) and the parts `above`, `below`, `left`, `right` of `one`. */
#define MEMOPT_RESIZE_BILINEAR(type, part, one, p, value)                                   \
  do {                                                                                      \
    int32_t row;                                                                            \
    (void)scratch;                                                                          \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                               \
      const type *top = (const type *)memopt_in_row(                                        \
          rows, in, 0, (p)->by_rows ? row : (p)->row_low[row]);                             \
      const type *bottom =                                                                  \
          (const type *)((p)->by_rows ? memopt_in_row(rows, in, 1, row)                     \
                                      : memopt_in_row(rows, in, 0, (p)->row_high[row]));    \
      type *output = (type *)memopt_out_row(rows, out, row);                                \
      const part below = (p)->row_part[row];                                                \
      const part above = (one) - below;                                                     \
      int32_t x;                                                                            \
      for (x = 0; x < (p)->out_w; ++x) {                                                    \
        const int32_t l = (p)->column_low[x] * (p)->channels;                               \
        const int32_t r = (p)->column_high[x] * (p)->channels;                              \
        const part right = (p)->column_part[x];                                             \
        const part left = (one) - right;                                                    \
        int32_t c;                                                                          \
        for (c = 0; c < (p)->channels; ++c) {                                               \
          const type tl = top[l + c];                                                       \
          const type bl = bottom[l + c];                                                    \
          const type tr = top[r + c];                                                       \
          const type br = bottom[r + c];                                                    \
          *output++ = (value);                                                              \
        }                                                                                   \
      }                                                                                     \
    }                                                                                       \
  } while (0)

#endif
