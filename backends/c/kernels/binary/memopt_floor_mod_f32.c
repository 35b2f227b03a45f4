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

KERNEL(scratch) {
  MEMOPT_BINARY(float, p, floor_mod(x, y));
}
