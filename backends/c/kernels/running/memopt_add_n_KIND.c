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

KERNEL {
  MEMOPT_ADD_N(TYPE, ADDED, ZERO, p, VALUE, total);
}
