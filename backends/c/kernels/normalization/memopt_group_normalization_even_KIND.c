/* KIND  TYPE     LEAST  MOST
 * s8    int8_t   -128   127
 * u8    uint8_t  0      255
 */
/* Normalization of groups of channels of an image of stored integers as ONNX says it, KIND to KIND:
 * by their mean and variance, times a scale and plus a shift of each channel, in float32, step by
 * step. A row is one of the image. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t width;
  int32_t groups, each; /* channels of a group */
  float epsilon;        /* above 0 */
  float act_min, act_max;
  int32_t terms;              /* 0; 1, a scale; 2, a scale and a shift */
  const float *scale, *shift; /* null where they are operands */
  float input_scale, output_scale;
  int32_t input_zero_point, output_zero_point;
} memopt_group_normalization_even_KIND_params;

/* `output` may be `input`. */
KERNEL(scratch) {
  const int32_t channels = p->groups * p->each;
  const float *const means = (const float *)in[1];
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    TYPE *output = (TYPE *)memopt_out_row(rows, out, row);
    const float *scale = p->scale ? p->scale : p->terms > 0 ? (const float *)in[2] : 0;
    const float *shift = p->shift ? p->shift : p->terms > 1 ? (const float *)in[3] : 0;
    int32_t c;
    for (c = 0; c < channels; ++c) {
      const int32_t g = c / p->each;
      const float mean = means[g], factor = 1.0f / sqrtf(means[p->groups + g] + p->epsilon);
      const float times = scale ? scale[c] : 1.0f, plus = shift ? shift[c] : -0.0f;
      int32_t i;
      for (i = 0; i < p->width; ++i) {
        const float x = (float)(input[i * channels + c] - p->input_zero_point) * p->input_scale;
        const float value = (x - mean) * factor * times + plus;
        const float bent = memopt_clamp_f32(value, p->act_min, p->act_max);
        const int32_t steps = memopt_round_even(bent / p->output_scale) + p->output_zero_point;
        output[i * channels + c] = (TYPE)memopt_clamp(steps, LEAST, MOST);
      }
    }
  }
}
