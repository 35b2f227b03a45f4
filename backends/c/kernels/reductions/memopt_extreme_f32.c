/* REDUCE_MAX and REDUCE_MIN, float32. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
  int32_t least; /* the smallest number, not the largest */
} memopt_extreme_f32_params;

MEMOPT_KERNEL void memopt_extreme_f32(const void *params, const memopt_rows *rows,
                                      const void *const *in, void *out, void *scratch) {
  const memopt_extreme_f32_params *p = (const memopt_extreme_f32_params *)params;
  (void)scratch;
  MEMOPT_REDUCE(float, float, p, *at, so_far = (p->least ? x < so_far : x > so_far) ? x : so_far,
                so_far);
}
