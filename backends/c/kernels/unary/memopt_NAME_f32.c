/* NAME  VALUE
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
