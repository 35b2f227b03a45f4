/* KIND  TYPE     ADDED     ZERO  VALUE
 * f32   float    float     0.0f  x
 * i32   int32_t  uint32_t  0u    (uint32_t)x
 */
/* ADD_N of KIND, integers wrap: the sum of all operands. */
#include "memopt_add_n.h"

typedef struct {
  int32_t operands;
  int32_t row_n;
} memopt_add_n_KIND_params;

MEMOPT_KERNEL void memopt_add_n_KIND(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_add_n_KIND_params *p = (const memopt_add_n_KIND_params *)params;
  MEMOPT_ADD_N(TYPE, ADDED, ZERO, p, VALUE, total);
}
