/* HARD_SWISH, float32: x * clamp(x + 3, 0, 6) / 6. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
} memopt_hard_swish_f32_params;

MEMOPT_KERNEL void memopt_hard_swish_f32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_hard_swish_f32_params *p = (const memopt_hard_swish_f32_params *)params;
  MEMOPT_EACH(float, p, x * memopt_clamp_f32(x + 3.0f, 0.0f, 6.0f) / 6.0f);
}
