#include "memopt_mean_s8.h"

MEMOPT_KERNEL void memopt_mean_s8(const memopt_mean_s8_params *p, const memopt_rows *rows,
                                  const int8_t *input, int8_t *restrict output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      const int8_t *x = input + i;
      int32_t sum = -p->offset;
      int32_t n;
      for (n = p->count; n > 0; --n) {
        sum += *x;
        x += p->inner;
      }
      sum = memopt_requantize(sum, p->multiplier, p->shift) + p->output_zero_point;
      output[i] = (int8_t)memopt_clamp(sum, -128, 127);
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
