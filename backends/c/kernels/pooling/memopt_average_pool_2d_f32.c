/* AVERAGE_POOL_2D, float32, NHWC. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  float act_min, act_max;
} memopt_average_pool_2d_f32_params;

MEMOPT_KERNEL void memopt_average_pool_2d_f32(const void *params, const memopt_rows *rows,
                                              const void *const *in, void *out, void *scratch) {
  const memopt_average_pool_2d_f32_params *p = params;
  const memopt_pool_2d_window *w = &p->window;
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * w->stride_h - w->pad_top;
    float *restrict output = memopt_out_row(rows, out, oy);
    int32_t ky_begin;
    int32_t ky_end;
    int32_t ox;
    memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);
    for (ox = 0; ox < w->out_w; ++ox) {
      const int32_t ix = ox * w->stride_w - w->pad_left;
      int32_t kx_begin;
      int32_t kx_end;
      int32_t at;
      int32_t count;
      int32_t c;
      memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);
      count = (ky_end - ky_begin) * (kx_end - kx_begin);
      at = (ix + kx_begin) * w->channels;
      for (c = 0; c < w->channels; c += 2) {
        const int32_t second = c + 1 < w->channels; /* else both are the last channel */
        float acc0 = 0.0f;
        float acc1 = 0.0f;
        int32_t ky;
        for (ky = ky_begin; ky < ky_end; ++ky) {
          const float *xt = (const float *)memopt_in_row(rows, in, 0, iy + ky) + at + c;
          int32_t kx;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            acc0 += xt[0];
            acc1 += xt[second];
            xt += w->channels;
          }
        }
        output[c] = memopt_clamp_f32(acc0 / (float)count, p->act_min, p->act_max);
        output[c + second] = memopt_clamp_f32(acc1 / (float)count, p->act_min, p->act_max);
      }
      output += w->channels;
    }
  }
}
