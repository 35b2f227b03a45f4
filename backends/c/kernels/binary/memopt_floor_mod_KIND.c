/* KIND  TYPE
 * i32   int32_t
 * i64   int64_t
 */
/* FLOOR_MOD of KIND: of the sign of the divisor; by 0 it is 0. Rows and steps: see
 * memopt_binary.h. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_floor_mod_KIND_params;

static TYPE floor_mod(TYPE x, TYPE y) {
  TYPE rest;
  if (y == 0 || y == -1) { /* by which the least number would overflow */
    return 0;
  }
  rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, floor_mod(x, y));
}
