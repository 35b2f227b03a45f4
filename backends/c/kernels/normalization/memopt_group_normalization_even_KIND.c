/* KIND  TYPE     LEAST  MOST
 * s8    int8_t   -128   127
 * u8    uint8_t  0      255
 */
/* Normalization of groups of channels of an image of stored integers as ONNX says it, KIND to KIND:
 * by their mean and variance, times a scale and plus a shift of each channel, in float32, step by
 * step. A row is one of the image. */
#include "memopt_group_normalization.h"

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

static inline float group_real_KIND(const memopt_group_normalization_even_KIND_params *p, TYPE x) {
  return (float)(x - p->input_zero_point) * p->input_scale;
}

static inline TYPE group_stored_KIND(const memopt_group_normalization_even_KIND_params *p,
                                     float real) {
  const int32_t steps = memopt_round_even(real / p->output_scale) + p->output_zero_point;
  return (TYPE)memopt_clamp(steps, LEAST, MOST);
}

KERNEL(scratch) {
  MEMOPT_GROUP_NORMALIZATION(TYPE, group_real_KIND, group_stored_KIND, p);
}
