/* SUM, float32. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
} memopt_reduce_sum_f32_params;

MEMOPT_KERNEL void memopt_reduce_sum_f32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_reduce_sum_f32_params *p = (const memopt_reduce_sum_f32_params *)params;
  (void)scratch;
  MEMOPT_REDUCE(float, float, p, 0.0f, so_far += x, so_far);
}
