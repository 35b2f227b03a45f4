/* NEG, int32, which wraps. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
} memopt_neg_i32_params;

MEMOPT_KERNEL void memopt_neg_i32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_neg_i32_params *p = (const memopt_neg_i32_params *)params;
  MEMOPT_EACH(int32_t, p, (int32_t)(0u - (uint32_t)x));
}
