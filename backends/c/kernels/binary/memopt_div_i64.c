/* DIV, int64, towards 0; by 0, which runtimes refuse, it is 0. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_div_i64_params;

static int64_t divided(int64_t x, int64_t y) {
  if (y == 0 || y == -1) { /* by which the least number would overflow */
    return y == 0 ? 0 : (int64_t)(0u - (uint64_t)x);
  }
  return x / y;
}

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(int64_t, p, divided(x, y));
}
