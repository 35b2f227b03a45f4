/* ADD_N, int32, which wraps: the sum of all operands. */
#include "memopt_add_n.h"

typedef struct {
  int32_t operands;
  int32_t row_n;
} memopt_add_n_i32_params;

MEMOPT_KERNEL void memopt_add_n_i32(const void *params, const memopt_rows *rows,
                                    const void *const *in, void *out, void *scratch) {
  const memopt_add_n_i32_params *p = (const memopt_add_n_i32_params *)params;
  MEMOPT_ADD_N(int32_t, uint32_t, 0u, p, (uint32_t)x, total);
}
