/* Normalization of groups of channels of an image by their mean and variance, float32, times a
 * scale and plus a shift of each channel. A row is one of the image. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t width;
  int32_t groups, each; /* channels of a group */
  float epsilon;
  float act_min, act_max;
  int32_t terms;              /* 0; 1, a scale; 2, a scale and a shift */
  const float *scale, *shift; /* null where they are operands */
} memopt_group_normalization_f32_params;

/* `output` may be `input`. */
KERNEL(scratch) {
  const int32_t channels = p->groups * p->each;
  const float *const means = (const float *)in[1];
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    const float *scale = p->scale ? p->scale : p->terms > 0 ? (const float *)in[2] : 0;
    const float *shift = p->shift ? p->shift : p->terms > 1 ? (const float *)in[3] : 0;
    int32_t c;
    for (c = 0; c < channels; ++c) {
      const int32_t g = c / p->each;
      const float mean = means[g], factor = 1.0f / sqrtf(means[p->groups + g] + p->epsilon);
      const float times = scale ? scale[c] : 1.0f, plus = shift ? shift[c] : -0.0f;
      int32_t i;
      for (i = 0; i < p->width; ++i) {
        const float value = (input[i * channels + c] - mean) * factor * times + plus;
        output[i * channels + c] = memopt_clamp_f32(value, p->act_min, p->act_max);
      }
    }
  }
}
