/* RELU, RELU6 and other ranges, float32. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
} memopt_clamp_range_f32_params;

KERNEL {
  MEMOPT_EACH(float, p, memopt_clamp_f32(x, p->act_min, p->act_max));
}
