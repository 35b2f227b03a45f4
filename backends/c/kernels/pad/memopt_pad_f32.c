/* PAD of [images][rows][columns][channels], float32. Rows count through all images. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t in_images, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t before_images, before_h, before_w, before_c;
  float value;
} memopt_pad_f32_params;

MEMOPT_KERNEL void memopt_pad_f32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_pad_f32_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    float *restrict output = memopt_out_row(rows, out, row);
    const int32_t image = row / p->out_h - p->before_images;
    const int32_t y = row % p->out_h - p->before_h;
    const int32_t inside = image >= 0 && image < p->in_images && y >= 0 && y < p->in_h;
    int32_t i;
    for (i = 0; i < p->out_w * p->out_c; ++i) {
      output[i] = (float)p->value;
    }
    if (inside) {
      const float *x = memopt_in_row(rows, in, 0, image * p->in_h + y);
      float *at = output + p->before_w * p->out_c + p->before_c;
      int32_t column;
      for (column = 0; column < p->in_w; ++column) {
        memcpy(at, x, (size_t)p->in_c * sizeof *x);
        x += p->in_c;
        at += p->out_c;
      }
    }
  }
}
