/* ELU, float32: x, below zero exp(x) - 1. */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
} memopt_elu_f32_params;

MEMOPT_KERNEL void memopt_elu_f32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_elu_f32_params *p = (const memopt_elu_f32_params *)params;
  MEMOPT_EACH(float, p, x < 0.0f ? expf(x) - 1.0f : x);
}
