/* MediaPipe's Landmarks2TransformMatrix, version 2: from pixels of a part to places in the image. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t count; /* of landmarks inside */
  int32_t left, right;
  int32_t height, width;
  float target, scale_x, scale_y;
  const int32_t *subset;
} memopt_landmarks_to_matrix_f32_params;

KERNEL {
  const float *at = (const float *)in[0];
  const float *left = at + 3 * p->left;
  const float *right = at + 3 * p->right;
  const float angle = p->target - atan2f(right[1] - left[1], right[0] - left[0]);
  const float c = cosf(angle);
  const float s = sinf(angle);
  float low_x = 0.0f, high_x = 0.0f, low_y = 0.0f, high_y = 0.0f;
  float middle_x, middle_y, wide, high;
  float *output = (float *)out;
  int32_t i;
  (void)rows;
  (void)scratch;
  for (i = 0; i < p->count; ++i) {
    const float *mark = at + 3 * p->subset[i];
    const float x = c * mark[0] - s * mark[1];
    const float y = s * mark[0] + c * mark[1];
    low_x = i == 0 || x < low_x ? x : low_x;
    high_x = i == 0 || x > high_x ? x : high_x;
    low_y = i == 0 || y < low_y ? y : low_y;
    high_y = i == 0 || y > high_y ? y : high_y;
  }
  middle_x = (low_x + high_x) / 2.0f;
  middle_y = (low_y + high_y) / 2.0f;
  wide = p->scale_x * (high_x - low_x) / (float)p->width;
  high = p->scale_y * (high_y - low_y) / (float)p->height;
  for (i = 0; i < 16; ++i) {
    output[i] = i % 5 == 0 ? 1.0f : 0.0f;
  }
  output[0] = c * wide;
  output[1] = s * high;
  output[3] = c * middle_x + s * middle_y - output[0] * (float)p->width / 2.0f -
              output[1] * (float)p->height / 2.0f;
  output[4] = -s * wide;
  output[5] = c * high;
  output[7] = c * middle_y - s * middle_x - output[4] * (float)p->width / 2.0f -
              output[5] * (float)p->height / 2.0f;
}
