/* MUL, int8 as ONNX has it, by integers: tried with all pairs of bytes when this was written. Rows and
 * steps: see memopt_binary.h. */
#include "memopt_binary.h"
#include "memopt_even_sums_s8.h"

typedef struct {
  int32_t row_n;
  int32_t left, multiplier, shift, base; /* see memopt_line_of */
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_product_even_s8_params;

static inline int32_t product_even_s8(const memopt_product_even_s8_params *p, int32_t a,
                                      int32_t b) {
  const int32_t product = (a - p->a_zero_point) * (b - p->b_zero_point);
  const int32_t steps = memopt_line_of(product, p->left, p->multiplier, p->shift, p->base);
  return memopt_clamp(steps + p->output_zero_point, p->act_min, p->act_max);
}

KERNEL(scratch) {
  const memopt_product_even_s8_params local = *p; /* no store can change it */
  MEMOPT_BINARY(int8_t, &local, product_even_s8(&local, x, y));
}
