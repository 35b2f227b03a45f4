/* ABS, int64, which wraps. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
} memopt_abs_i64_params;

MEMOPT_KERNEL void memopt_abs_i64(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_abs_i64_params *p = (const memopt_abs_i64_params *)params;
  MEMOPT_EACH(int64_t, p, x < 0 ? (int64_t)(0u - (uint64_t)x) : x);
}
