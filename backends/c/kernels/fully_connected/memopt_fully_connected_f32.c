#include "memopt_fully_connected_f32.h"

#include "memopt_dot_f32.h"

MEMOPT_KERNEL void memopt_fully_connected_f32(const memopt_fully_connected_f32_params *p,
                                              const memopt_rows *rows, const float *input,
                                              float *restrict output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *w = p->weights;
    int32_t o;
    for (o = 0; o < p->out_n; o += 2) {
      const int32_t two = o + 1 < p->out_n;
      float acc[2] = {0.0f, 0.0f};
      memopt_dot_1x2_f32(input, w, two ? w + p->in_n : w, p->in_n, acc);
      output[o] = memopt_clamp_f32(acc[0] + p->bias[o], p->act_min, p->act_max);
      if (two) {
        output[o + 1] = memopt_clamp_f32(acc[1] + p->bias[o + 1], p->act_min, p->act_max);
      }
      w += 2 * p->in_n;
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
