/* LOGISTIC, float32: 1 / (1 + exp(-x)). */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
} memopt_logistic_f32_params;

MEMOPT_KERNEL void memopt_logistic_f32(const void *params, const memopt_rows *rows,
                                       const void *const *in, void *out, void *scratch) {
  const memopt_logistic_f32_params *p = (const memopt_logistic_f32_params *)params;
  MEMOPT_EACH(float, p, 1.0f / (1.0f + expf(-x)));
}
