#include "memopt_mul_s8.h"

MEMOPT_KERNEL void memopt_mul_s8(const memopt_mul_s8_params *p, const memopt_rows *rows,
                                 const int8_t *a, const int8_t *b, int8_t *output) {
  const int32_t skip = (rows->out_begin - rows->in_first) * rows->in_stride;
  int32_t row;
  a += skip * p->a_row_step;
  b += skip * p->b_row_step;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int32_t product =
          (a[i * p->a_step] - p->a_zero_point) * (b[i * p->b_step] - p->b_zero_point);
      const int32_t value =
          memopt_requantize(product, p->multiplier, p->shift) + p->output_zero_point;
      output[i] = (int8_t)memopt_clamp(value, p->act_min, p->act_max);
    }
    a += rows->in_stride * p->a_row_step;
    b += rows->in_stride * p->b_row_step;
    output += rows->out_stride;
  }
}
