#include "memopt_fully_connected_s8.h"

#include "memopt_dot_s8.h"

static inline int8_t fully_connected_s8_finish(const memopt_fully_connected_s8_params *p,
                                               int32_t o, int32_t acc) {
  const int32_t axis = p->per_axis ? o : 0;
  const int32_t value =
      memopt_requantize(acc, p->multiplier[axis], p->shift[axis]) + p->output_zero_point;
  return (int8_t)memopt_clamp(value, p->act_min, p->act_max);
}

MEMOPT_KERNEL void memopt_fully_connected_s8(const memopt_fully_connected_s8_params *p,
                                             const memopt_rows *rows, const int8_t *input,
                                             int8_t *output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *w = p->weights;
    int32_t o;
    for (o = 0; o < p->out_n; o += 2) {
      const int32_t two = o + 1 < p->out_n;
      int32_t acc[2];
      acc[0] = p->bias[o];
      acc[1] = two ? p->bias[o + 1] : 0;
      memopt_dot_1x2(input, w, two ? w + p->in_n : w, p->in_n, acc);
      output[o] = fully_connected_s8_finish(p, o, acc[0]);
      if (two) {
        output[o + 1] = fully_connected_s8_finish(p, o + 1, acc[1]);
      }
      w += 2 * p->in_n;
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
