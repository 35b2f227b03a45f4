/* MediaPipe's TransformTensorBilinear, version 2. Operands are an image and a matrix of four rows. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t in_h, in_w;
  int32_t out_h, out_w;
  int32_t channels;
} memopt_transform_bilinear_f32_params;

KERNEL {
  const float *image = (const float *)in[0];
  const float *m = (const float *)in[1];
  const float from_x = m[3] + (m[0] * 0.5f + m[1] * 0.5f - 0.5f);
  const float from_y = m[7] + (m[4] * 0.5f + m[5] * 0.5f - 0.5f);
  float *output = (float *)out;
  int32_t y, x, c;
  (void)rows;
  (void)scratch;
  for (y = 0; y < p->out_h; ++y) {
    for (x = 0; x < p->out_w; ++x) {
      const float at_x = m[0] * (float)x + m[1] * (float)y + from_x;
      const float at_y = m[4] * (float)x + m[5] * (float)y + from_y;
      const int32_t inside = at_x >= 0.0f && at_x <= (float)(p->in_w - 1) && at_y >= 0.0f &&
                             at_y <= (float)(p->in_h - 1);
      const int32_t left = inside ? (int32_t)at_x : 0;
      const int32_t top = inside ? (int32_t)at_y : 0;
      const int32_t right = left + 1 < p->in_w ? p->channels : 0; /* behind the last one it is 0 times */
      const int32_t below = top + 1 < p->in_h ? p->in_w * p->channels : 0;
      const float part_x = at_x - (float)left;
      const float part_y = at_y - (float)top;
      const float *nearest = image + (top * p->in_w + left) * p->channels;
      for (c = 0; c < p->channels; ++c, ++nearest) {
        const float upper = (1.0f - part_x) * nearest[0] + part_x * nearest[right];
        const float lower = (1.0f - part_x) * nearest[below] + part_x * nearest[below + right];
        *output++ = inside ? part_y * lower + (1.0f - part_y) * upper : 0.0f;
      }
    }
  }
}
