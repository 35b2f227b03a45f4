/* KIND          DIVISOR      VALUE
 * f32           1.0f / root  (x - mean) * factor * *scale + *shift
 * quotient_f32  root         (x - mean) / factor * *scale + *shift
 * line_f32      1.0f / root  x * (factor * *scale) + (*shift - mean * (factor * *scale))
 */
/* Normalization of vectors, float32: to mean 0 and variance 1, times a scale and plus a shift of
 * each place. A row is one vector.
 */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t depth;
  float epsilon;
  int32_t around_zero;
  int32_t terms;              /* 0; 1, a scale; 2, a scale and a shift */
  const float *scale, *shift; /* null where they are operands */
} memopt_layer_normalization_KIND_params;

/* `output` may be `input`. */
KERNEL(scratch) {
  static const float one = 1.0f, nothing = -0.0f; /* with which nothing changes */
  const int32_t scale_step = p->terms > 0, shift_step = p->terms > 1;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    const float *scale = p->scale ? p->scale : scale_step ? (const float *)in[1] : &one;
    const float *shift = p->shift ? p->shift
                         : shift_step ? (const float *)in[2] : &nothing;
    float mean = 0.0f, sum = 0.0f;
    float root, factor;
    int32_t i;
    if (!p->around_zero) {
      for (i = 0; i < p->depth; ++i) {
        sum += input[i];
      }
      mean = sum / (float)p->depth;
      sum = 0.0f;
    }
    for (i = 0; i < p->depth; ++i) {
      const float x = input[i] - mean;
      sum += x * x;
    }
    root = sqrtf(sum / (float)p->depth + p->epsilon);
    factor = DIVISOR;
    for (i = 0; i < p->depth; ++i) {
      const float x = input[i];
      output[i] = VALUE;
      scale += scale_step;
      shift += shift_step;
    }
  }
}
