/* PAD of [images][rows][columns][channels], for every type. Rows count through all images. */
#ifndef MEMOPT_PAD_H
#define MEMOPT_PAD_H

#include "memopt_common.h"

#include <string.h>

/* p is the kernel's parameters. */
#define MEMOPT_PAD(type, p)                                                                   \
  do {                                                                                        \
    int32_t row;                                                                              \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                 \
      type *restrict output = memopt_out_row(rows, out, row);                                 \
      const int32_t image = row / (p)->out_h - (p)->before_images;                            \
      const int32_t y = row % (p)->out_h - (p)->before_h;                                     \
      const int32_t inside = image >= 0 && image < (p)->in_images && y >= 0 && y < (p)->in_h; \
      int32_t i;                                                                              \
      for (i = 0; i < (p)->out_w * (p)->out_c; ++i) {                                         \
        output[i] = (type)(p)->value;                                                         \
      }                                                                                       \
      if (inside) {                                                                           \
        const type *x = memopt_in_row(rows, in, 0, image * (p)->in_h + y);                    \
        type *at = output + (p)->before_w * (p)->out_c + (p)->before_c;                       \
        int32_t column;                                                                       \
        for (column = 0; column < (p)->in_w; ++column) {                                      \
          memcpy(at, x, (size_t)(p)->in_c * sizeof *x);                                       \
          x += (p)->in_c;                                                                     \
          at += (p)->out_c;                                                                   \
        }                                                                                     \
      }                                                                                       \
    }                                                                                         \
  } while (0)

#endif
