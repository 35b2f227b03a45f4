/* SignalWindow: frames of int16 times weights, shifted down, at the ends of the type where outside. */
#include "memopt_common.h"

typedef struct {
  int32_t frames, size;
  int32_t shift;
} memopt_signal_window_params;

MEMOPT_FAST
KERNEL(rows, scratch) {
  const int16_t *x = (const int16_t *)in[0];
  const int16_t *weights = (const int16_t *)in[1];
  int16_t *output = (int16_t *)out;
  int32_t frame, i;
  for (frame = 0; frame < p->frames; ++frame, x += p->size, output += p->size) {
    for (i = 0; i < p->size; ++i) {
      const int32_t value = memopt_shift_right(x[i] * weights[i], p->shift);
      output[i] = (int16_t)(value > 32767 ? 32767 : value < -32768 ? -32768 : value);
    }
  }
}
