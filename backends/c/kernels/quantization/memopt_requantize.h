/* QUANTIZE of stored integers to another scale (TensorFlow Lite, reference/requantize.h). */
#ifndef MEMOPT_REQUANTIZE_H
#define MEMOPT_REQUANTIZE_H

#include "memopt_each.h"
#include "memopt_fixed_point.h"

/* Of 32 bits: what is too large for them is beyond 2^24, as is the result, and so beyond 16 bits. */
static inline int32_t memopt_fewer_bits(int32_t value, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? memopt_scale_up(value, shift) : value;
  const int32_t steps = memopt_round_shift(memopt_high_mul(left, multiplier), shift < 0 ? -shift : 0);
  return memopt_clamp(steps, -(1 << 24), 1 << 24);
}

/* Each element x of type `from` as one of type `to`, low .. high, `steps` from the zero point. p is the
 * kernel's parameters; the result may take the place of the operand if it is no larger. */
#define MEMOPT_STORED_AS(from, to, low, high, p, steps) \
  MEMOPT_EACH_TO(from, to, p, (to)memopt_clamp((steps) + (p)->output_zero_point, low, high))

/* Of no more than 16 bits. */
#define MEMOPT_REQUANTIZE(from, to, low, high, p)                                             \
  MEMOPT_STORED_AS(from, to, low, high, p,                                                    \
                   memopt_requantize(x - (p)->input_zero_point, (p)->multiplier, (p)->shift))

#endif
