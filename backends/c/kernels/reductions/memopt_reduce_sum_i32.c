/* SUM, int32, which wraps. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
} memopt_reduce_sum_i32_params;

MEMOPT_KERNEL void memopt_reduce_sum_i32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_reduce_sum_i32_params *p = (const memopt_reduce_sum_i32_params *)params;
  (void)scratch;
  MEMOPT_REDUCE(int32_t, int32_t, p, 0,
                so_far = (int32_t)((uint32_t)so_far + (uint32_t)x), so_far);
}
