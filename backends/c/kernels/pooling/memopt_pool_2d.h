/* AVERAGE_POOL_2D and MAX_POOL_2D: the window and the walk over it. Padding never counts. */
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

/* The mean of each window: p is the kernel's parameters, `mean` makes it of a sum, a `number`, and how
 * many were added. */
#define MEMOPT_AVERAGE_POOL_2D(type, number, mean, p)                                   \
  do {                                                                                  \
    const memopt_pool_2d_window *const w = &(p)->window;                                \
    const int32_t channels = w->channels;                                               \
    const memopt_part part = memopt_part_of(rows, in, (p)->parts);                      \
    const number *before = (const number *)part.before;                                 \
    number *sums = (number *)out;                                                       \
    int32_t oy;                                                                         \
    for (oy = rows->out_begin; oy < rows->out_end; ++oy) {                              \
      const int32_t iy = ((p)->parts > 0 ? 0 : oy) * w->stride_h - w->pad_top;          \
      type *restrict output = (type *)memopt_out_row(rows, out, oy);                    \
      int32_t ky_begin, ky_end, y_begin, y_end, ox;                                     \
      memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);                    \
      y_begin = (p)->parts > 0 ? oy : iy + ky_begin;                                    \
      y_end = (p)->parts > 0 ? oy + 1 : iy + ky_end;                                    \
      for (ox = 0; ox < w->out_w; ++ox) {                                               \
        const int32_t ix = ox * w->stride_w - w->pad_left;                              \
        int32_t kx_begin, kx_end, at, c;                                                \
        int32_t count;                                                                  \
        memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);                  \
        count = (ky_end - ky_begin) * (kx_end - kx_begin);                              \
        at = (ix + kx_begin) * channels;                                                \
        for (c = 0; c < channels; c += 2) {                                             \
          const int32_t second = c + 1 < channels; /* else both are the last channel */ \
          number acc0 = before ? before[c] : 0;                                         \
          number acc1 = before ? before[c + second] : 0;                                \
          int32_t y;                                                                    \
          for (y = y_begin; y < y_end; ++y) {                                           \
            const type *xt = (const type *)memopt_in_row(rows, in, 0, y) + at + c;      \
            int32_t kx;                                                                 \
            for (kx = kx_begin; kx < kx_end; ++kx) {                                    \
              acc0 += xt[0];                                                            \
              acc1 += xt[second];                                                       \
              xt += channels;                                                           \
            }                                                                           \
          }                                                                             \
          if (!part.last) {                                                             \
            sums[c] = acc0;                                                             \
            sums[c + second] = acc1;                                                    \
            continue;                                                                   \
          }                                                                             \
          output[c] = mean(p, acc0, count);                                             \
          output[c + second] = mean(p, acc1, count);                                    \
        }                                                                               \
        output += channels;                                                             \
        before = before ? before + channels : 0;                                        \
        sums += part.last ? 0 : channels;                                               \
      }                                                                                 \
    }                                                                                   \
  } while (0)

/* The largest element of each window; no element is below `least`. */
#define MEMOPT_MAX_POOL_2D(type, least, p)                                              \
  do {                                                                                  \
    const memopt_pool_2d_window *const w = &(p)->window;                                \
    const int32_t channels = w->channels;                                               \
    const memopt_part part = memopt_part_of(rows, in, (p)->parts);                      \
    const type *before = (const type *)part.before;                                     \
    int32_t oy;                                                                         \
    for (oy = rows->out_begin; oy < rows->out_end; ++oy) {                              \
      const int32_t iy = ((p)->parts > 0 ? 0 : oy) * w->stride_h - w->pad_top;          \
      type *output = (type *)memopt_out_row(rows, out, oy);                             \
      int32_t ky_begin, ky_end, y_begin, y_end, ox;                                     \
      memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);                    \
      y_begin = (p)->parts > 0 ? oy : iy + ky_begin;                                    \
      y_end = (p)->parts > 0 ? oy + 1 : iy + ky_end;                                    \
      for (ox = 0; ox < w->out_w; ++ox) {                                               \
        const int32_t ix = ox * w->stride_w - w->pad_left;                              \
        int32_t kx_begin, kx_end, at, c;                                                \
        memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);                  \
        at = (ix + kx_begin) * channels;                                                \
        for (c = 0; c < channels; c += 2) {                                             \
          const int32_t second = c + 1 < channels; /* else both are the last channel */ \
          int32_t acc0 = before ? before[c] : (least);                                  \
          int32_t acc1 = before ? before[c + second] : (least);                         \
          int32_t y;                                                                    \
          for (y = y_begin; y < y_end; ++y) {                                           \
            const type *xt = (const type *)memopt_in_row(rows, in, 0, y) + at + c;      \
            int32_t kx;                                                                 \
            for (kx = kx_begin; kx < kx_end; ++kx) {                                    \
              acc0 = xt[0] > acc0 ? xt[0] : acc0;                                       \
              acc1 = xt[second] > acc1 ? xt[second] : acc1;                             \
              xt += channels;                                                           \
            }                                                                           \
          }                                                                             \
          output[c] = (type)memopt_clamp(acc0, (p)->act_min, (p)->act_max);             \
          output[c + second] = (type)memopt_clamp(acc1, (p)->act_min, (p)->act_max);    \
        }                                                                               \
        output += channels;                                                             \
        before = before ? before + channels : 0;                                        \
      }                                                                                 \
    }                                                                                   \
  } while (0)

#endif
