/* FLOOR_DIV, int32: by 0 it is 0. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

static int32_t floor_div(int32_t x, int32_t y) {
  if (y == 0 || y == -1) { /* by which the least number would overflow */
    return y == 0 ? 0 : (int32_t)(0u - (uint32_t)x);
  }
  return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_floor_div_i32_params;

KERNEL(scratch) {
  MEMOPT_BINARY(int32_t, p, floor_div(x, y));
}
