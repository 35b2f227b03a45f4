/* ONE_HOT of elements of any type. Operands are indices, of 32 or 64 bits, on and off. */
#include "memopt_index.h"

#include <string.h>

typedef struct {
  int32_t outer, depth, inner; /* before the axis, along it, behind it */
  int32_t bytes;               /* of an element */
  int32_t form;                /* of indices */
} memopt_one_hot_params;

KERNEL {
  uint8_t *output = (uint8_t *)out;
  int32_t o, d, i;
  (void)rows;
  (void)scratch;
  for (o = 0; o < p->outer; ++o) {
    for (d = 0; d < p->depth; ++d) {
      for (i = 0; i < p->inner; ++i) {
        const int32_t n = o * p->inner + i;
        const int32_t is_on = memopt_place(in[0], n, p->form, p->depth) == d;
        memcpy(output, in[is_on ? 1 : 2], (size_t)p->bytes);
        output += p->bytes;
      }
    }
  }
}
