/* FLOOR_MOD, int32: of the sign of the divisor; by 0 it is 0. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"


static int32_t floor_mod(int32_t x, int32_t y) {
  int32_t rest;
  if (y == 0 || y == -1) { /* by which the least number would overflow */
    return 0;
  }
  rest = x % y;
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_floor_mod_i32_params;

MEMOPT_KERNEL void memopt_floor_mod_i32(const void *params, const memopt_rows *rows,
                                        const void *const *in, void *out, void *scratch) {
  const memopt_floor_mod_i32_params *p = (const memopt_floor_mod_i32_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int32_t, p, floor_mod(x, y));
}
