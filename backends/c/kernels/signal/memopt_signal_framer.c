/* SignalFramer: operands are vectors of samples, and what is remembered: the last `held` samples of
 * each, and how many steps have come, up to `before`. The call of part 1, which comes first, says
 * whether all frames are there; that of part 0 cuts them. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t part;
  int32_t vectors, count; /* frames of each */
  int32_t size, step;
  int32_t held;   /* less than `size`, and at least `size` - `step` */
  int32_t before; /* steps before that of the first frame */
} memopt_signal_framer_params;

KERNEL(rows, scratch) {
  const int16_t *x = (const int16_t *)in[0];
  int16_t *state = (int16_t *)memopt_state(in[1]);
  int16_t *const steps = state + p->vectors * p->held;
  int16_t *frame = (int16_t *)out;
  const size_t each = sizeof *x;
  int32_t vector, i;
  if (p->part == 1) {
    *(uint8_t *)out = *steps >= p->before;
    return;
  }
  for (vector = 0; vector < p->vectors; ++vector, state += p->held) {
    for (i = 0; i < p->count; ++i, frame += p->size, x += p->step) {
      memcpy(frame, state, (size_t)p->held * each);
      memcpy(frame + p->held, x, (size_t)(p->size - p->held) * each);
      if (*steps + i < p->before) {
        memset(frame, 0, (size_t)p->size * each);
      }
      if (p->held > p->step) {
        memmove(state, state + p->step, (size_t)(p->held - p->step) * each);
        memcpy(state + p->held - p->step, x, (size_t)p->step * each);
      } else {
        memcpy(state, x + p->step - p->held, (size_t)p->held * each);
      }
    }
  }
  *steps = (int16_t)(*steps + p->count < p->before ? *steps + p->count : p->before);
}
