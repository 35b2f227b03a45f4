/* REDUCE_MAX and REDUCE_MIN, int8. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
  int32_t least; /* the smallest number, not the largest */
} memopt_extreme_s8_params;

MEMOPT_KERNEL void memopt_extreme_s8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_extreme_s8_params *p = (const memopt_extreme_s8_params *)params;
  (void)scratch;
  MEMOPT_REDUCE(int8_t, int8_t, p, *at, so_far = (p->least ? x < so_far : x > so_far) ? x : so_far,
                so_far);
}
