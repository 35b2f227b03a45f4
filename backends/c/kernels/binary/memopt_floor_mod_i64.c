/* FLOOR_MOD, int64: of the sign of the divisor; by 0 it is 0. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_floor_mod_i64_params;

static int64_t floor_mod(int64_t x, int64_t y) {
  int64_t rest;
  if (y == 0 || y == -1) { /* by which the least number would overflow */
    return 0;
  }
  rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_floor_mod_i64(const void *params, const memopt_rows *rows,
                                        const void *const *in, void *out, void *scratch) {
  const memopt_floor_mod_i64_params *p = (const memopt_floor_mod_i64_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int64_t, p, floor_mod(x, y));
}
