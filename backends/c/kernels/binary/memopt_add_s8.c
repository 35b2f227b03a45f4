#include "memopt_add_s8.h"

MEMOPT_KERNEL void memopt_add_s8(const memopt_add_s8_params *p, const memopt_rows *rows,
                                 const int8_t *a, const int8_t *b, int8_t *output) {
  const int32_t skip = (rows->out_begin - rows->in_first) * rows->in_stride;
  int32_t row;
  a += skip * p->a_row_step;
  b += skip * p->b_row_step;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *at = a;
    const int8_t *bt = b;
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int32_t av = memopt_shift_left(*at - p->a_zero_point, p->left_shift);
      const int32_t bv = memopt_shift_left(*bt - p->b_zero_point, p->left_shift);
      const int32_t sum =
          memopt_round_shift(memopt_high_mul_30(av, p->a_multiplier), -p->a_shift) +
          memopt_round_shift(memopt_high_mul_30(bv, p->b_multiplier), -p->b_shift);
      const int32_t value =
          memopt_round_shift(memopt_high_mul_30(sum, p->output_multiplier), -p->output_shift) +
          p->output_zero_point;
      output[i] = (int8_t)memopt_clamp(value, p->act_min, p->act_max);
      at += p->a_step;
      bt += p->b_step;
    }
    a += rows->in_stride * p->a_row_step;
    b += rows->in_stride * p->b_row_step;
    output += rows->out_stride;
  }
}
