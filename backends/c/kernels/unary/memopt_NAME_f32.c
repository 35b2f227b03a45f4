/* NAME      VALUE
 * abs       fabsf(x)
 * atan      atanf(x)
 * ceil      ceilf(x)
 * cos       cosf(x)
 * elu       x < 0.0f ? expf(x) - 1.0f : x
 * erf       erff(x)
 * exp       expf(x)
 * floor     floorf(x)
 * log       logf(x)
 * logistic  1.0f / (1.0f + expf(-x))
 * round     rintf(x)
 * rsqrt     1.0f / sqrtf(x)
 * sin       sinf(x)
 * sqrt      sqrtf(x)
 * tanh      tanhf(x)
 */
/* NAME of float32. */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
} memopt_NAME_f32_params;

MEMOPT_KERNEL void memopt_NAME_f32(const void *params, const memopt_rows *rows,
                                   const void *const *in, void *out, void *scratch) {
  const memopt_NAME_f32_params *p = (const memopt_NAME_f32_params *)params;
  MEMOPT_EACH(float, p, VALUE);
}
