/* SignalFilterBankSpectralSubtraction: operands are channels, and the noise in each of them that is
 * remembered. */
#include "memopt_common.h"

typedef struct {
  int32_t count;
  uint32_t smoothing, rest;
  uint32_t odd_smoothing, odd_rest; /* of odd channels */
  uint32_t least;
  int32_t extra; /* bits of noise that channels have not */
  int32_t bits;  /* of the numbers above */
  int32_t is_clamped;
} memopt_signal_filter_bank_spectral_subtraction_params;

KERNEL(rows, scratch) {
  const uint32_t *x = (const uint32_t *)in[0];
  uint32_t *noise = (uint32_t *)memopt_state(in[1]);
  uint32_t *output = (uint32_t *)out;
  int32_t i;
  for (i = 0; i < p->count; ++i) {
    const uint32_t scaled = x[i] << p->extra;
    const uint64_t new_part = (uint64_t)scaled * (i & 1 ? p->odd_smoothing : p->smoothing);
    const uint64_t old_part = (uint64_t)noise[i] * (i & 1 ? p->odd_rest : p->rest);
    const uint32_t smooth = (uint32_t)((new_part + old_part) >> p->bits);
    const uint32_t floor = (uint32_t)(((uint64_t)x[i] * p->least) >> p->bits);
    const uint32_t subtracted = smooth > scaled ? scaled : smooth;
    const uint32_t remaining = (scaled - subtracted) >> p->extra;
    noise[i] = p->is_clamped ? subtracted : smooth;
    output[i] = remaining > floor ? remaining : floor;
  }
}
