/* ADD, int8: both inputs are brought to a common scale with 20 more bits, added
 * and rounded back (TensorFlow Lite, reference/integer_ops/add.h). A row is
 * `row_n` elements; input rows and output rows are the same rows.
 */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier, output_multiplier;
  int32_t a_shift, b_shift, output_shift; /* never positive */
  int32_t act_min, act_max;
  int32_t a_step, b_step; /* 1, or 0 where one element serves the whole row */
  int32_t a_row_step, b_row_step; /* 1; 0: one row serves all; -1: an element serves each */
} memopt_add_s8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_add_s8(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_add_s8_params *p = (const memopt_add_s8_params *)params;
  (void)scratch;
  MEMOPT_BINARY(int8_t, p, MEMOPT_STORED_SUM(p, MEMOPT_SCALED(p, a, x) + MEMOPT_SCALED(p, b, y)));
}
