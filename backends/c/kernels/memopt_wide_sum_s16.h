/* Products of int16 with int8 weights: sums in 64 bits, rounded once, with 16 bits of the multiplier,
 * or beside a bias of 32 bits twice, as TensorFlow Lite rounds. */
#ifndef MEMOPT_WIDE_SUM_S16_H
#define MEMOPT_WIDE_SUM_S16_H

#include "memopt_common.h"

typedef struct {
  int32_t wide;              /* whether no bias has 32 bits */
  int32_t act_min, act_max;  /* zero points are 0 */
  const int8_t *weights;
  const int64_t *bias;       /* per channel */
  const int32_t *multiplier; /* per channel, of 16 bits if wide */
  const int8_t *shift;       /* per channel, to the right if wide, else as memopt_requantize takes it */
} memopt_wide_sum_s16;

/* A sum times a multiplier of 16 bits, rounded once: `shift` is to the right. */
static inline int32_t memopt_wide_steps(int64_t sum, int32_t multiplier, int32_t shift) {
  const int64_t half = (int64_t)1 << (shift - 1);
  const int64_t steps = memopt_shift_right_64(sum * multiplier + half, shift);
  return steps < -32768 ? -32768 : steps > 32767 ? 32767 : (int32_t)steps;
}

static inline int16_t memopt_stored_s16(const memopt_wide_sum_s16 *p, int64_t sum, int32_t channel) {
  const int32_t shift = p->shift[channel];
  int32_t value;
  if (p->wide) {
    value = memopt_wide_steps(sum, p->multiplier[channel], shift);
  } else {
    value = memopt_requantize((int32_t)sum, p->multiplier[channel], shift);
  }
  return (int16_t)memopt_clamp(value, p->act_min, p->act_max);
}

#endif
