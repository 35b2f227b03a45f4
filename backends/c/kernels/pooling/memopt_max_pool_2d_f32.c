#include "memopt_max_pool_2d_f32.h"

MEMOPT_KERNEL void memopt_max_pool_2d_f32(const memopt_max_pool_2d_f32_params *p,
                                          const memopt_rows *rows, const float *input,
                                          float *restrict output) {
  const memopt_pool_2d_window *w = &p->window;
  int32_t oy;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * w->stride_h - w->pad_top;
    float *out = output;
    int32_t ky_begin;
    int32_t ky_end;
    int32_t ox;
    memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);
    for (ox = 0; ox < w->out_w; ++ox) {
      const int32_t ix = ox * w->stride_w - w->pad_left;
      const float *x;
      int32_t kx_begin;
      int32_t kx_end;
      int32_t c;
      memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);
      x = input + (iy + ky_begin - rows->in_first) * rows->in_stride +
          (ix + kx_begin) * w->channels;
      for (c = 0; c < w->channels; ++c) {
        float acc = x[c];
        int32_t ky;
        for (ky = ky_begin; ky < ky_end; ++ky) {
          const float *xt = x + (ky - ky_begin) * rows->in_stride + c;
          int32_t kx;
          for (kx = kx_begin; kx < kx_end; ++kx) {
            acc = *xt > acc ? *xt : acc;
            xt += w->channels;
          }
        }
        out[c] = memopt_clamp_f32(acc, p->act_min, p->act_max);
      }
      out += w->channels;
    }
    output += rows->out_stride;
  }
}
