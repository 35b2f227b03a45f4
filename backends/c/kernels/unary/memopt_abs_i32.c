/* ABS, int32, which wraps. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
} memopt_abs_i32_params;

MEMOPT_KERNEL void memopt_abs_i32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_abs_i32_params *p = (const memopt_abs_i32_params *)params;
  MEMOPT_EACH(int32_t, p, x < 0 ? (int32_t)(0u - (uint32_t)x) : x);
}
