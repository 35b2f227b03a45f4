/* Normalization of groups of channels of an image by their mean and variance, float32, times a
 * scale and plus a shift of each channel. A row is one of the image. */
#include "memopt_group_normalization.h"

typedef struct {
  int32_t width;
  int32_t groups, each; /* channels of a group */
  float epsilon;
  float act_min, act_max;
  int32_t terms;              /* 0; 1, a scale; 2, a scale and a shift */
  const float *scale, *shift; /* null where they are operands */
} memopt_group_normalization_f32_params;

#define GROUP_REAL_ITSELF(p, x) (x)

KERNEL(scratch) {
  MEMOPT_GROUP_NORMALIZATION(float, GROUP_REAL_ITSELF, GROUP_REAL_ITSELF, p);
}
