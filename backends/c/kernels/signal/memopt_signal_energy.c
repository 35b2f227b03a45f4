/* SignalEnergy: squares of sizes of complex numbers, real and imaginary part of int16, of a range of
 * them; the others are 0. */
#include "memopt_common.h"

typedef struct {
  int32_t count;
  int32_t first, end;
} memopt_signal_energy_params;

KERNEL(rows, scratch) {
  const int16_t *x = (const int16_t *)in[0];
  uint32_t *output = (uint32_t *)out;
  int32_t i;
  for (i = 0; i < p->count; ++i, x += 2) {
    output[i] = 0;
    if (i >= p->first && i < p->end) {
      output[i] = (uint32_t)(x[0] * x[0]) + (uint32_t)(x[1] * x[1]);
    }
  }
}
