/* AVERAGE_POOL_2D, uint8, NHWC. Input and output have the same quantization. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
  int32_t parts; /* see memopt_part */
} memopt_average_pool_2d_u8_params;

/* The mean, rounded to nearest. */
static inline uint8_t average_pool_2d_u8(const memopt_average_pool_2d_u8_params *p, int32_t sum,
                                         int32_t count) {
  return (uint8_t)memopt_clamp((sum + count / 2) / count, p->act_min, p->act_max);
}

MEMOPT_KERNEL void memopt_average_pool_2d_u8(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_average_pool_2d_u8_params *p = params;
  const memopt_pool_2d_window *w = &p->window;
  const int32_t channels = w->channels;
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const int32_t *before = part.before;
  int32_t *sums = out;
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = (p->parts > 0 ? 0 : oy) * w->stride_h - w->pad_top;
    uint8_t *restrict output = memopt_out_row(rows, out, oy);
    int32_t ky_begin;
    int32_t ky_end;
    int32_t y_begin;
    int32_t y_end;
    int32_t ox;
    memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);
    y_begin = p->parts > 0 ? oy : iy + ky_begin;
    y_end = p->parts > 0 ? oy + 1 : iy + ky_end;
    for (ox = 0; ox < w->out_w; ++ox) {
      const int32_t ix = ox * w->stride_w - w->pad_left;
      int32_t kx_begin;
      int32_t kx_end;
      int32_t at;
      int32_t count;
      int32_t c;
      memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);
      count = (ky_end - ky_begin) * (kx_end - kx_begin);
      at = (ix + kx_begin) * channels;
      for (c = 0; c < channels; c += 2) {
        const int32_t second = c + 1 < channels; /* else both are the last channel */
        int32_t acc0 = before ? before[c] : 0;
        int32_t acc1 = before ? before[c + second] : 0;
        int32_t y;
        for (y = y_begin; y < y_end; ++y) {
          const uint8_t *xt = (const uint8_t *)memopt_in_row(rows, in, 0, y) + at + c;
          int32_t kx;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            acc0 += xt[0];
            acc1 += xt[second];
            xt += channels;
          }
        }
        if (!part.last) {
          sums[c] = acc0;
          sums[c + second] = acc1;
          continue;
        }
        output[c] = average_pool_2d_u8(p, acc0, count);
        output[c + second] = average_pool_2d_u8(p, acc1, count);
      }
      output += channels;
      before = before ? before + channels : 0;
      sums += part.last ? 0 : channels;
    }
  }
}
