/* ADD_N, int32, which wraps: the sum of all operands. */
#include "memopt_common.h"

typedef struct {
  int32_t operands;
  int32_t row_n;
} memopt_add_n_i32_params;

MEMOPT_KERNEL void memopt_add_n_i32(const void *params, const memopt_rows *rows,
                                    const void *const *in, void *out, void *scratch) {
  const memopt_add_n_i32_params *p = params;
  int32_t *output = out;
  int32_t i;
  (void)rows;
  (void)scratch;
  for (i = 0; i < p->row_n; ++i) {
    uint32_t total = 0;
    int32_t k;
    for (k = 0; k < p->operands; ++k) {
      const int32_t x = ((const int32_t *)in[k])[i];
      total += (uint32_t)x;
    }
    output[i] = (int32_t)total;
  }
}
