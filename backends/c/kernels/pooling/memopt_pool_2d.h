/* AVERAGE_POOL_2D and MAX_POOL_2D: the window, for every type. Padding never counts. */
#ifndef MEMOPT_POOL_2D_H
#define MEMOPT_POOL_2D_H

#include "memopt_common.h"

typedef struct {
  int32_t in_h, in_w, channels;
  int32_t out_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t pad_top, pad_left;
} memopt_pool_2d_window;

#endif
