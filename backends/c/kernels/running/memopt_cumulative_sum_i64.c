/* CUMSUM, int64, which wraps: [rows][count][inner], along the second. */
#include "memopt_cumulative_sum.h"

typedef struct {
  int32_t count, inner;
  int32_t exclusive; /* without the element itself */
  int32_t reverse;   /* from the other end */
} memopt_cumulative_sum_i64_params;

MEMOPT_KERNEL void memopt_cumulative_sum_i64(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_cumulative_sum_i64_params *p = (const memopt_cumulative_sum_i64_params *)params;
  MEMOPT_CUMULATIVE_SUM(int64_t, uint64_t, 0u, p, (uint64_t)x, total);
}
