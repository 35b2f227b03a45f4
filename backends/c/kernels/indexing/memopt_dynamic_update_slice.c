/* DYNAMIC_UPDATE_SLICE of elements of any type. Operands are a tensor, what is written into it, and
 * from which indices on, of 32 or 64 bits. */
#include "memopt_index.h"

#include <string.h>

typedef struct {
  int32_t size, count; /* elements of both */
  int32_t rank;
  int32_t bytes; /* of an element */
  int32_t form;  /* of indices */
  int32_t shape[8], update[8];
} memopt_dynamic_update_slice_params;

KERNEL {
  const int32_t run = p->update[p->rank - 1];
  int32_t first[8];
  int32_t i, k;
  (void)rows;
  (void)scratch;
  for (k = 0; k < p->rank; ++k) {
    const int64_t start = memopt_place(in[2], k, p->form, p->shape[k]);
    const int32_t last = p->shape[k] - p->update[k];
    first[k] = start < 0 ? 0 : start > last ? last : (int32_t)start;
  }
  memmove(out, in[0], (size_t)p->size * (size_t)p->bytes);
  for (i = 0; i < p->count; i += run) {
    int32_t left = i;
    int32_t at = 0;
    int32_t step = 1;
    for (k = p->rank - 1; k >= 0; --k) {
      at += (left % p->update[k] + first[k]) * step;
      left /= p->update[k];
      step *= p->shape[k];
    }
    memcpy((uint8_t *)out + at * p->bytes, (const uint8_t *)in[1] + i * p->bytes,
           (size_t)run * (size_t)p->bytes);
  }
}
