/* SignalDelay: operands are vectors of samples, and the last `length` samples of each. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t vectors, size;
  int32_t length;
} memopt_signal_delay_params;

KERNEL(rows, scratch) {
  const int16_t *x = (const int16_t *)in[0];
  int16_t *state = (int16_t *)memopt_state(in[1]);
  int16_t *output = (int16_t *)out;
  const int32_t behind = p->length - p->size; /* samples that stay remembered */
  const size_t all = (size_t)p->size * sizeof *x, remembered = (size_t)p->length * sizeof *x;
  int32_t i;
  for (i = 0; i < p->vectors; ++i, x += p->size, output += p->size, state += p->length) {
    if (behind >= 0) {
      memcpy(output, state, all);
      memmove(state, state + p->size, remembered - all);
      memcpy(state + behind, x, all);
    } else {
      memcpy(output, state, remembered);
      memcpy(output + p->length, x, all - remembered);
      memcpy(state, x - behind, remembered);
    }
  }
}
