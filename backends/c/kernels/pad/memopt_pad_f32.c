/* PAD of [images][rows][columns][channels], float32. Rows count through all images. */
#include "memopt_pad.h"

typedef struct {
  int32_t in_images, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t before_images, before_h, before_w, before_c;
  float value;
} memopt_pad_f32_params;

MEMOPT_KERNEL void memopt_pad_f32(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_pad_f32_params *p = (const memopt_pad_f32_params *)params;
  (void)scratch;
  MEMOPT_PAD(float, p);
}
