/* Mod of ONNX with fmod, int64: of the sign of the left operand; by 0 it is 0. Rows and steps as in
 * memopt_add_s8.c. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_remainder_i64_params;

/* `output` may be `a` or `b`. By -1 the least number would overflow. */
MEMOPT_KERNEL void memopt_remainder_i64(const void *params, const memopt_rows *rows,
                                        const void *const *in, void *out, void *scratch) {
  const memopt_remainder_i64_params *p = (const memopt_remainder_i64_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int64_t, p, y == 0 || y == -1 ? 0 : x % y);
}
