/* KIND  TYPE     VALUE
 * f32   float    float
 * s8    int8_t   int32_t
 * s16   int16_t  int32_t
 */
/* PAD of [images][rows][columns][channels], KIND. Rows count through all images. */
#include "memopt_pad.h"

typedef struct {
  int32_t in_images, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t before_images, before_h, before_w, before_c;
  VALUE value;
} memopt_pad_KIND_params;

KERNEL(scratch) {
  MEMOPT_PAD(TYPE, p);
}
