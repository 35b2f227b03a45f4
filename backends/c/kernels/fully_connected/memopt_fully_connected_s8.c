#include "memopt_fully_connected_s8.h"

#include "memopt_dot_s8.h"

MEMOPT_KERNEL void memopt_fully_connected_s8(const memopt_fully_connected_s8_params *p,
                                             const memopt_rows *rows, const int8_t *input,
                                             int8_t *restrict output) {
  memopt_dot_shape shape = {1, 0, 0, 0, 0, 0};
  memopt_finish finish;
  int32_t row;
  shape.run = p->in_n;
  shape.w_next = p->in_n;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = p->per_axis;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t o = 0;
    while (o < p->out_n) {
      const int32_t left = p->out_n - o;
      const int32_t n = left < MEMOPT_TILE ? left : MEMOPT_TILE;
      int32_t acc[MEMOPT_TILE + 1];
      int32_t i;
      for (i = 0; i < n; ++i) {
        acc[i] = p->bias[o + i];
      }
      acc[n] = 0;
      memopt_dot_1xn(input, p->weights + o * p->in_n, &shape, n, acc);
      memopt_finish_s8(&finish, p->multiplier + o * p->per_axis, p->shift + o * p->per_axis, n,
                       acc, output + o);
      o += n;
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
