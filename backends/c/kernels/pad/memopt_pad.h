/* PAD of [images][rows][columns][channels], for every type. Rows count through all images. */
#ifndef MEMOPT_PAD_H
#define MEMOPT_PAD_H

#include "memopt_common.h"

#include <string.h>

/* `count` elements of padding. */
#define MEMOPT_PAD_FILL(type, to, count, value)          \
  do {                                                   \
    int32_t i;                                           \
    if (sizeof(type) == 1) {                             \
      memset(to, (int)(value), (size_t)(count));         \
    } else {                                             \
      for (i = 0; i < (count); ++i) {                    \
        (to)[i] = (type)(value);                         \
      }                                                  \
    }                                                    \
  } while (0)

/* p is the kernel's parameters. Columns without padding of channels are one run. */
#define MEMOPT_PAD(type, p)                                                                   \
  do {                                                                                        \
    const int32_t one = (p)->in_c == (p)->out_c ? (p)->in_w : 1;                              \
    const int32_t n = (p)->out_w * (p)->out_c;                                                \
    const int32_t before = (p)->before_w * (p)->out_c + (p)->before_c;                        \
    const int32_t behind = before + (p)->in_w * (p)->out_c;                                   \
    int32_t row;                                                                              \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                 \
      type *restrict output = (type *)memopt_out_row(rows, out, row);                         \
      const int32_t image = row / (p)->out_h - (p)->before_images;                            \
      const int32_t y = row % (p)->out_h - (p)->before_h;                                     \
      const int32_t inside = image >= 0 && image < (p)->in_images && y >= 0 && y < (p)->in_h; \
      if (!inside || one == 1) {                                                              \
        MEMOPT_PAD_FILL(type, output, n, (p)->value);                                         \
      } else {                                                                                \
        MEMOPT_PAD_FILL(type, output, before, (p)->value);                                    \
        MEMOPT_PAD_FILL(type, output + behind, n - behind, (p)->value);                       \
      }                                                                                       \
      if (inside) {                                                                           \
        const type *x = (const type *)memopt_in_row(rows, in, 0, image * (p)->in_h + y);      \
        type *at = output + before;                                                           \
        int32_t column;                                                                       \
        for (column = 0; column < (p)->in_w; column += one) {                                 \
          memcpy(at, x, (size_t)(one * (p)->in_c) * sizeof *x);                               \
          x += one * (p)->in_c;                                                               \
          at += one * (p)->out_c;                                                             \
        }                                                                                     \
      }                                                                                       \
    }                                                                                         \
  } while (0)

#endif
