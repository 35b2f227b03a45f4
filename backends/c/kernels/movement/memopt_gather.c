/* GATHER of elements of any type, indices int32. The second operand is the indices; one that there
 * is not is the nearest that there is. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t outer, length, count; /* before the axis, along it, indices */
  int32_t bytes;                /* of what an index takes in one piece */
} memopt_gather_params;

MEMOPT_KERNEL void memopt_gather(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_gather_params *p = params;
  const uint8_t *input = memopt_in_row(rows, in, 0, rows->out_begin);
  const int32_t *indices = memopt_in_row(rows, in, 1, rows->in_first);
  uint8_t *output = out;
  int32_t o;
  (void)scratch;
  for (o = 0; o < p->outer; ++o) {
    int32_t i;
    for (i = 0; i < p->count; ++i) {
      const int32_t at = memopt_clamp(indices[i], 0, p->length - 1);
      memcpy(output, input + (o * p->length + at) * p->bytes, (size_t)p->bytes);
      output += p->bytes;
    }
  }
}
