/* ADD, int32, which wraps. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_add_i32_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_add_i32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_add_i32_params *p = (const memopt_add_i32_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int32_t, p,
                memopt_clamp((int32_t)((uint32_t)x + (uint32_t)y), p->act_min, p->act_max));
}
