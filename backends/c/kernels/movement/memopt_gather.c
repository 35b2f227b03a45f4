/* GATHER of elements of any type. The second operand is the indices, of 32 or 64 bits; one that there
 * is not is the nearest that there is. */
#include "memopt_index.h"

#include <string.h>

typedef struct {
  int32_t batches;              /* each with indices of its own */
  int32_t outer, length, count; /* before the axis, along it, indices */
  int32_t bytes;                /* of what an index takes in one piece */
  int32_t form;                 /* of indices */
} memopt_gather_params;

KERNEL {
  const uint8_t *input = (const uint8_t *)memopt_in_row(rows, in, 0, rows->out_begin);
  const void *indices = memopt_in_row(rows, in, 1, rows->in_first);
  uint8_t *output = (uint8_t *)out;
  int32_t batch, o, i;
  (void)scratch;
  for (batch = 0; batch < p->batches; ++batch) {
    for (o = 0; o < p->outer; ++o) {
      for (i = 0; i < p->count; ++i) {
        const int32_t n = batch * p->count + i;
        const int32_t at = memopt_index(indices, n, p->form, p->length);
        memcpy(output, input + at * p->bytes, (size_t)p->bytes);
        output += p->bytes;
      }
      input += p->length * p->bytes;
    }
  }
}
