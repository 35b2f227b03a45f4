/* SELECT and SELECT_V2 of any type, with broadcasting in up to 6 dimensions. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t bytes;   /* of an element */
  int32_t size[6]; /* of the result */
  int32_t step[3][6]; /* elements to the next along each, of each operand; 0 where one serves all */
} memopt_choose_params;

KERNEL {
  const uint8_t *condition = (const uint8_t *)in[0];
  const uint8_t *const sources[2] = {(const uint8_t *)in[1], (const uint8_t *)in[2]};
  uint8_t *output = (uint8_t *)out;
  int32_t index[6] = {0, 0, 0, 0, 0, 0};
  int32_t d;
  (void)rows;
  (void)scratch;
  do {
    int32_t at[3] = {0, 0, 0};
    int32_t k;
    for (d = 0; d < 6; ++d) {
      for (k = 0; k < 3; ++k) {
        at[k] += index[d] * p->step[k][d];
      }
    }
    k = condition[at[0]] ? 0 : 1;
    memcpy(output, sources[k] + at[k + 1] * p->bytes, (size_t)p->bytes);
    output += p->bytes;
    for (d = 5; d >= 0; --d) {
      if (++index[d] < p->size[d]) {
        break;
      }
      index[d] = 0;
    }
  } while (d >= 0);
}
