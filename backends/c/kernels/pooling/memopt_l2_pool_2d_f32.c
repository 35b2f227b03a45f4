/* L2_POOL_2D, float32, NHWC: the root of the mean of squares. */
#include "memopt_pool_2d.h"

#include <math.h>

typedef struct {
  memopt_pool_2d_window window;
  float act_min, act_max;
} memopt_l2_pool_2d_f32_params;

KERNEL {
  const memopt_pool_2d_window *w = &p->window;
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * w->stride_h - w->pad_top;
    float *output = (float *)memopt_out_row(rows, out, oy);
    int32_t ky_begin, ky_end, ox;
    memopt_valid_taps(iy, w->in_h, w->k_h, 1, &ky_begin, &ky_end);
    for (ox = 0; ox < w->out_w; ++ox) {
      const int32_t ix = ox * w->stride_w - w->pad_left;
      int32_t kx_begin, kx_end, c;
      memopt_valid_taps(ix, w->in_w, w->k_w, 1, &kx_begin, &kx_end);
      for (c = 0; c < w->channels; ++c) {
        float sum = 0.0f;
        int32_t y, x;
        for (y = iy + ky_begin; y < iy + ky_end; ++y) {
          const float *input = (const float *)memopt_in_row(rows, in, 0, y);
          for (x = ix + kx_begin; x < ix + kx_end; ++x) {
            const float value = input[x * w->channels + c];
            sum += value * value;
          }
        }
        sum /= (float)((ky_end - ky_begin) * (kx_end - kx_begin));
        *output++ = memopt_clamp_f32(sqrtf(sum), p->act_min, p->act_max);
      }
    }
  }
}
