#include "memopt_mul_f32.h"

MEMOPT_KERNEL void memopt_mul_f32(const memopt_mul_f32_params *p, const memopt_rows *rows,
                                  const float *a, const float *b, float *output) {
  const int32_t skip = (rows->out_begin - rows->in_first) * rows->in_stride;
  int32_t row;
  a += skip * p->a_row_step;
  b += skip * p->b_row_step;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = memopt_clamp_f32(a[i * p->a_step] * b[i * p->b_step], p->act_min, p->act_max);
    }
    a += rows->in_stride * p->a_row_step;
    b += rows->in_stride * p->b_row_step;
    output += rows->out_stride;
  }
}
