#include "memopt_pad_f32.h"

#include <string.h>

MEMOPT_KERNEL void memopt_pad_f32(const memopt_pad_f32_params *p, const memopt_rows *rows,
                                  const float *input, float *restrict output) {
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t image = row / p->out_h - p->before_images;
    const int32_t y = row % p->out_h - p->before_h;
    const int32_t inside = image >= 0 && image < p->in_images && y >= 0 && y < p->in_h;
    int32_t i;
    for (i = 0; i < p->out_w * p->out_c; ++i) {
      output[i] = (float)p->value;
    }
    if (inside) {
      const float *x = input + (image * p->in_h + y - rows->in_first) * rows->in_stride;
      float *out = output + p->before_w * p->out_c + p->before_c;
      int32_t column;
      for (column = 0; column < p->in_w; ++column) {
        memcpy(out, x, (size_t)p->in_c * sizeof *x);
        x += p->in_c;
        out += p->out_c;
      }
    }
    output += rows->out_stride;
  }
}
