/* MAX_POOL_2D, float32, NHWC. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  float act_min, act_max;
  int32_t parts; /* see memopt_part */
} memopt_max_pool_2d_f32_params;

KERNEL {
  const memopt_pool_2d_window *w = &p->window;
  const int32_t channels = w->channels;
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const float *before = (const float *)part.before;
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = (p->parts > 0 ? 0 : oy) * w->stride_h - w->pad_top;
    float *output = (float *)memopt_out_row(rows, out, oy);
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
      int32_t c;
      memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);
      at = (ix + kx_begin) * channels;
      for (c = 0; c < channels; c += 2) {
        const int32_t second = c + 1 < channels; /* else both are the last channel */
        const float *xt = (const float *)memopt_in_row(rows, in, 0, y_begin) + at + c;
        float acc0 = before ? before[c] : xt[0];
        float acc1 = before ? before[c + second] : xt[second];
        int32_t y;
        for (y = y_begin; y < y_end; ++y) {
          int32_t kx;
          xt = (const float *)memopt_in_row(rows, in, 0, y) + at + c;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            acc0 = xt[0] > acc0 ? xt[0] : acc0;
            acc1 = xt[second] > acc1 ? xt[second] : acc1;
            xt += channels;
          }
        }
        output[c] = memopt_clamp_f32(acc0, p->act_min, p->act_max);
        output[c + second] = memopt_clamp_f32(acc1, p->act_min, p->act_max);
      }
      output += channels;
      before = before ? before + channels : 0;
    }
  }
}
