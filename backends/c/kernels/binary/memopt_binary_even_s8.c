/* ADD, SUB and MUL, int8 as ONNX has them: of real numbers, rounded to the nearest integer, ties to
 * even. A difference is the sum with a negative scale. Rows and steps: see memopt_binary.h. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float a_scale, b_scale, output_scale;
  int32_t is_product; /* 1, or 0 for a sum */
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_binary_even_s8_params;

/* `output` may be `a` or `b`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *a = (const int8_t *)memopt_in_row(
        rows, in, 0, p->a_row_step > 0 ? row : rows->in_first);
    const int8_t *b = (const int8_t *)memopt_in_row(
        rows, in, 1, p->b_row_step > 0 ? row : rows->in_first);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    int32_t i;
    a += p->a_row_step < 0 ? row - rows->in_first : 0;
    b += p->b_row_step < 0 ? row - rows->in_first : 0;
    for (i = 0; i < p->row_n; ++i) {
      const float av = (float)(*a - p->a_zero_point) * p->a_scale;
      const float bv = (float)(*b - p->b_zero_point) * p->b_scale;
      const float sum = av + bv;
      const float real = p->is_product ? av * bv : sum;
      const int32_t value = memopt_round_even(real / p->output_scale) + p->output_zero_point;
      output[i] = (int8_t)memopt_clamp(value, p->act_min, p->act_max);
      a += p->a_step;
      b += p->b_step;
    }
  }
}
