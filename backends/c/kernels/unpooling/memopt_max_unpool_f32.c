/* MediaPipe's MaxUnpooling2D, float32: zeros, but each element where its number in its window says.
 * Operands are elements and numbers. */
#include "memopt_common.h"

typedef struct {
  int32_t images, channels;
  int32_t large_h, large_w; /* of the image before the pool */
  int32_t small_h, small_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t pad_top, pad_left;
} memopt_max_unpool_f32_params;

KERNEL {
  const float *value = (const float *)in[0];
  const float *number = (const float *)in[1];
  const int32_t size = p->large_h * p->large_w * p->channels;
  float *image = (float *)out;
  int32_t n, y, x, c, i;
  (void)rows;
  (void)scratch;
  for (n = 0; n < p->images; ++n) {
    for (i = 0; i < size; ++i) {
      image[i] = 0.0f;
    }
    for (y = 0; y < p->small_h; ++y) {
      for (x = 0; x < p->small_w; ++x) {
        for (c = 0; c < p->channels; ++c, ++value, ++number) {
          const int32_t at = *number > -1.0f && *number < 65536.0f ? (int32_t)*number : -1;
          const int32_t row = y * p->stride_h - p->pad_top + at / p->k_w;
          const int32_t column = x * p->stride_w - p->pad_left + at % p->k_w;
          if (at >= 0 && row >= 0 && row < p->large_h && column >= 0 && column < p->large_w &&
              at < p->k_h * p->k_w) {
            image[(row * p->large_w + column) * p->channels + c] = *value;
          }
        }
      }
    }
    image += size;
  }
}
