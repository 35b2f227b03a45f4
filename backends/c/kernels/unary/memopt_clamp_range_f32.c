/* RELU, RELU6 and other ranges, float32. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
} memopt_clamp_range_f32_params;

MEMOPT_KERNEL void memopt_clamp_range_f32(const void *params, const memopt_rows *rows,
                                          const void *const *in, void *out, void *scratch) {
  const memopt_clamp_range_f32_params *p = (const memopt_clamp_range_f32_params *)params;
  MEMOPT_EACH(float, p, memopt_clamp_f32(x, p->act_min, p->act_max));
}
