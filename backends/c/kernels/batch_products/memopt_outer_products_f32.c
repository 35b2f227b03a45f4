/* OUTER_PRODUCTS, float32: [places][groups][depth] and [places][groups][width] become
 * [groups][depth][width], place by place. */
#include "memopt_common.h"

typedef struct {
  int32_t places, groups, depth, width;
  int32_t parts; /* see memopt_part: each call has one place of both operands */
} memopt_outer_products_f32_params;

MEMOPT_FAST
KERNEL(scratch) {
  const float *x = (const float *)memopt_in_row(rows, in, 0, rows->out_begin);
  const float *y = (const float *)memopt_in_row(rows, in, 1, rows->out_begin);
  const float *before =
      p->parts > 0 && rows->out_begin > 0 ? (const float *)in[2 * rows->in_count] : 0;
  const int32_t places = p->parts > 0 ? 1 : p->places;
  int32_t place, group, i, j;
  for (place = 0; place < places; ++place) {
    float *sum = (float *)out;
    for (group = 0; group < p->groups; ++group) {
      for (i = 0; i < p->depth; ++i) {
        const float factor = *x++;
        for (j = 0; j < p->width; ++j) {
          const float product = factor * y[j];
          *sum++ = before ? *before++ + product : product;
        }
      }
      y += p->width;
    }
    before = (const float *)out;
  }
}
