/* FLOOR_MOD, float32: of the sign of the divisor. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

#include <math.h>

static float floor_mod(float x, float y) {
  const float rest = fmodf(x, y);
  return (rest < 0.0f && y > 0.0f) || (rest > 0.0f && y < 0.0f) ? rest + y : rest;
}

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_floor_mod_f32_params;

MEMOPT_KERNEL void memopt_floor_mod_f32(const void *params, const memopt_rows *rows,
                                        const void *const *in, void *out, void *scratch) {
  const memopt_floor_mod_f32_params *p = (const memopt_floor_mod_f32_params *)params;
  (void)scratch;
  MEMOPT_BINARY(float, p, floor_mod(x, y));
}
