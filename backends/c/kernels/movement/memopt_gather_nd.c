/* GATHER_ND: elements of the first operand at rows of indices of its first dimensions. */
#include "memopt_index.h"

#include <string.h>

typedef struct {
  int32_t count, depth; /* of rows of indices, and in each */
  int32_t bytes;        /* that stand at each */
  int32_t form;         /* of indices */
  int32_t size[8], step[8]; /* of the dimensions, in such elements */
} memopt_gather_nd_params;

KERNEL {
  const uint8_t *const input = (const uint8_t *)in[0];
  const void *const indices = in[1];
  uint8_t *output = (uint8_t *)out;
  int32_t n, d;
  (void)rows;
  (void)scratch;
  for (n = 0; n < p->count; ++n) {
    int32_t at = 0;
    for (d = 0; d < p->depth; ++d) {
      at += memopt_index(indices, n * p->depth + d, p->form, p->size[d]) * p->step[d];
    }
    memcpy(output, input + at * p->bytes, (size_t)p->bytes);
    output += p->bytes;
  }
}
