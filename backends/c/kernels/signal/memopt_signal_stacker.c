/* SignalStacker: operands are a vector, and what is remembered: the vectors before it, and one more
 * than how many of them count, 0 before the first run. The call of part 1, which comes first, says
 * whether the stack is there; that of part 0 makes it. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t part;
  int32_t size, stacked; /* numbers of a vector, and vectors of a stack */
  int32_t left;          /* vectors before it for which the first stands */
  int32_t step;
} memopt_signal_stacker_params;

KERNEL(rows, scratch) {
  const int32_t held = (p->stacked - 1) * p->size;
  const size_t each = sizeof(int16_t);
  int16_t *const state = (int16_t *)memopt_state(in[1]);
  int16_t *const counted = state + held;
  int16_t *const stack = (int16_t *)out;
  const int32_t count = *counted ? *counted : p->left + 1;
  const int32_t is_whole = count == p->stacked;
  int32_t i;
  if (p->part == 1) {
    *(uint8_t *)out = (uint8_t)is_whole;
    return;
  }
  for (i = 0; i < held && *counted == 0; i += p->size) {
    memcpy(state + i, in[0], (size_t)p->size * each);
  }
  if (is_whole) {
    memcpy(stack, state, (size_t)held * each);
    memcpy(stack + held, in[0], (size_t)p->size * each);
  } else {
    memset(stack, 0, (size_t)(held + p->size) * each);
  }
  if (held > 0) {
    memmove(state, state + p->size, (size_t)(held - p->size) * each);
    memcpy(state + held - p->size, in[0], (size_t)p->size * each);
  }
  *counted = (int16_t)(count + 1 - (is_whole ? p->step : 0));
}
