/* Stretches of bytes that are picked along up to 6 ways, from up to 6 dimensions, of any type. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t bytes;     /* of a stretch */
  int32_t size[6];   /* stretches of the result along each way */
  int32_t extent[6]; /* those of the operand along each dimension */
  int32_t terms;
  int32_t way[10], dimension[10]; /* of each term */
  const int32_t *numbers;         /* of each term, what each index along its way adds */
  int32_t fill_n; /* bytes of an element, which stands where there is no stretch */
} memopt_picked_params;

/* The number of the stretch at these indices along the ways, -1 if there is none. */
static int32_t picked_at(const memopt_picked_params *p, const int32_t index[6]) {
  const int32_t *numbers = p->numbers;
  int32_t found[6] = {0, 0, 0, 0, 0, 0};
  int32_t at = 0;
  int32_t i;
  for (i = 0; i < p->terms; ++i) {
    found[p->dimension[i]] += numbers[index[p->way[i]]];
    numbers += p->size[p->way[i]];
  }
  for (i = 0; i < 6; ++i) {
    if (found[i] < 0 || found[i] >= p->extent[i]) {
      return -1;
    }
    at = at * p->extent[i] + found[i];
  }
  return at;
}

KERNEL {
  const uint8_t *const input = (const uint8_t *)in[0];
  uint8_t *output = (uint8_t *)out;
  int32_t index[6] = {0, 0, 0, 0, 0, 0};
  int32_t d;
  (void)rows;
  (void)scratch;
  do {
    const int32_t at = picked_at(p, index);
    if (at >= 0) {
      memcpy(output, input + at * p->bytes, (size_t)p->bytes);
    } else {
      int32_t i;
      for (i = 0; i < p->bytes; i += p->fill_n) {
        memcpy(output + i, in[1], (size_t)p->fill_n);
      }
    }
    output += p->bytes;
    for (d = 5; d >= 0; --d) {
      if (++index[d] < p->size[d]) {
        break;
      }
      index[d] = 0;
    }
  } while (d >= 0);
}
