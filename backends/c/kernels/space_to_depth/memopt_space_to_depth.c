/* SPACE_TO_DEPTH of any type, NHWC. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t out_w, bytes, block; /* bytes of a pixel */
} memopt_space_to_depth_params;

KERNEL {
  const int32_t run = p->bytes * p->block; /* a row of one block */
  int32_t oy;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    uint8_t *restrict output = (uint8_t *)memopt_out_row(rows, out, oy);
    int32_t y;
    for (y = 0; y < p->block; ++y) {
      const uint8_t *x = (const uint8_t *)memopt_in_row(rows, in, 0, oy * p->block + y);
      int32_t ox;
      for (ox = 0; ox < p->out_w; ++ox) {
        memcpy(output + (ox * p->block + y) * run, x + ox * run, (size_t)run);
      }
    }
  }
}
