/* MediaPipe's TransformLandmarks, version 2. Operands are landmarks and a matrix of four rows. */
#include "memopt_common.h"

typedef struct {
  int32_t count;
  int32_t size; /* numbers of each: x, y and perhaps z */
} memopt_transform_landmarks_f32_params;

KERNEL {
  const float *at = (const float *)in[0];
  const float *m = (const float *)in[1];
  float *output = (float *)out;
  int32_t i;
  (void)rows;
  (void)scratch;
  for (i = 0; i < p->count; ++i, at += p->size, output += p->size) {
    output[0] = m[0] * at[0] + m[1] * at[1] + m[3];
    output[1] = m[4] * at[0] + m[5] * at[1] + m[7];
    if (p->size == 3) {
      output[2] = at[2];
    }
  }
}
