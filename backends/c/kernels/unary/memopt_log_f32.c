/* LOG, float32. */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
} memopt_log_f32_params;

MEMOPT_KERNEL void memopt_log_f32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_log_f32_params *p = (const memopt_log_f32_params *)params;
  MEMOPT_EACH(float, p, logf(x));
}
