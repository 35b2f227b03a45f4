/* MUL, uint8. Rows and steps as in memopt_add_s8.c; shift as memopt_requantize takes it. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t multiplier, shift;
  int32_t act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_mul_u8_params;

MEMOPT_KERNEL void memopt_mul_u8(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_mul_u8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *a = memopt_in_row(rows, in, 0, p->a_row_step ? row : rows->in_first);
    const uint8_t *b = memopt_in_row(rows, in, 1, p->b_row_step ? row : rows->in_first);
    uint8_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int32_t product =
          (a[i * p->a_step] - p->a_zero_point) * (b[i * p->b_step] - p->b_zero_point);
      const int32_t value =
          memopt_requantize(product, p->multiplier, p->shift) + p->output_zero_point;
      output[i] = (uint8_t)memopt_clamp(value, p->act_min, p->act_max);
    }
  }
}
