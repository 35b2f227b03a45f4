/* MediaPipe's MaxPoolingWithArgmax2D, float32: the largest elements of windows, or their numbers in
 * the window and 0.1. */
#include "memopt_common.h"

#include <float.h>

typedef struct {
  int32_t images, channels;
  int32_t large_h, large_w; /* of the image before the pool */
  int32_t small_h, small_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t pad_top, pad_left;
  int32_t numbers; /* not the elements */
} memopt_max_pool_places_f32_params;

KERNEL {
  const float *image = (const float *)in[0];
  float *output = (float *)out;
  int32_t n, y, x, c, i, j;
  (void)rows;
  (void)scratch;
  for (n = 0; n < p->images; ++n) {
    for (y = 0; y < p->small_h; ++y) {
      for (x = 0; x < p->small_w; ++x) {
        for (c = 0; c < p->channels; ++c) {
          float best = -FLT_MAX;
          int32_t number = 0;
          for (i = 0; i < p->k_h; ++i) {
            const int32_t row = y * p->stride_h - p->pad_top + i;
            for (j = 0; j < p->k_w && row >= 0 && row < p->large_h; ++j) {
              const int32_t column = x * p->stride_w - p->pad_left + j;
              if (column >= 0 && column < p->large_w) {
                const float value = image[(row * p->large_w + column) * p->channels + c];
                number = value > best ? i * p->k_w + j : number;
                best = value > best ? value : best;
              }
            }
          }
          *output++ = p->numbers ? (float)number + 0.1f : best;
        }
      }
    }
    image += p->large_h * p->large_w * p->channels;
  }
}
