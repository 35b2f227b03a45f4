/* DIV, int32, towards 0; by 0, which runtimes refuse, it is 0. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t act_min, act_max;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_div_i32_params;

static int32_t divided(int32_t x, int32_t y) {
  if (y == 0 || y == -1) { /* by which the least number would overflow */
    return y == 0 ? 0 : (int32_t)(0u - (uint32_t)x);
  }
  return x / y;
}

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(int32_t, p, memopt_clamp(divided(x, y), p->act_min, p->act_max));
}
