/* PAD of [images][rows][columns][channels], int8. Rows count through all images. */
#ifndef MEMOPT_PAD_S8_H
#define MEMOPT_PAD_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t in_images, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t before_images, before_h, before_w, before_c;
  int32_t value;
} memopt_pad_s8_params;

MEMOPT_KERNEL void memopt_pad_s8(const memopt_pad_s8_params *p, const memopt_rows *rows,
                                 const int8_t *input, int8_t *restrict output);

#endif
