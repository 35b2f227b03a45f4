/* ADD_N, float32: the sum of all operands. */
#include "memopt_common.h"

typedef struct {
  int32_t operands;
  int32_t row_n;
} memopt_add_n_f32_params;

MEMOPT_KERNEL void memopt_add_n_f32(const void *params, const memopt_rows *rows,
                                    const void *const *in, void *out, void *scratch) {
  const memopt_add_n_f32_params *p = params;
  float *output = out;
  int32_t i;
  (void)rows;
  (void)scratch;
  for (i = 0; i < p->row_n; ++i) {
    float total = 0;
    int32_t k;
    for (k = 0; k < p->operands; ++k) {
      const float x = ((const float *)in[k])[i];
      total += x;
    }
    output[i] = (float)total;
  }
}
