/* ADD_N, float32: the sum of all operands. */
#include "memopt_add_n.h"

typedef struct {
  int32_t operands;
  int32_t row_n;
} memopt_add_n_f32_params;

MEMOPT_KERNEL void memopt_add_n_f32(const void *params, const memopt_rows *rows,
                                    const void *const *in, void *out, void *scratch) {
  const memopt_add_n_f32_params *p = (const memopt_add_n_f32_params *)params;
  MEMOPT_ADD_N(float, float, 0.0f, p, x, total);
}
