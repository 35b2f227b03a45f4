/* ADD, int64, which wraps. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_add_i64_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_add_i64(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_add_i64_params *p = (const memopt_add_i64_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int64_t, p, (uint64_t)x + (uint64_t)y);
}
