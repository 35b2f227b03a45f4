/* Elements of any type taken at steps: cuts along several dimensions, tiles, broadcasts, transposes.
 * The whole result is one row. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t bytes;   /* of an element */
  int32_t start;   /* the first element */
  int32_t size[8]; /* the last is the innermost; 1 where there are fewer dimensions */
  int32_t step[8]; /* elements, may be 0 or negative */
} memopt_strided_params;

KERNEL {
  const uint8_t *input = (const uint8_t *)memopt_in_row(rows, in, 0, rows->out_begin);
  const size_t bytes = (size_t)p->bytes;
  uint8_t *output = (uint8_t *)out;
  int32_t index[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  int32_t at = p->start;
  int32_t d;
  (void)scratch;
  do {
    const uint8_t *x = input + at * p->bytes;
    if (p->step[7] == 1) {
      const size_t run = bytes * (size_t)p->size[7];
      memcpy(output, x, run);
      output += run;
    } else {
      int32_t i;
      for (i = 0; i < p->size[7]; ++i) {
        memcpy(output, x + i * p->step[7] * p->bytes, bytes);
        output += bytes;
      }
    }
    for (d = 6; d >= 0; --d) {
      ++index[d];
      at += p->step[d];
      if (index[d] < p->size[d]) {
        break;
      }
      at -= p->size[d] * p->step[d];
      index[d] = 0;
    }
  } while (d >= 0);
}
