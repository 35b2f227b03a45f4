/* DIV of bytes: the left integer times the reciprocal of the right one, each with as many bits as it
 * has room for (TensorFlow Lite, reference/div.h). */
#ifndef MEMOPT_DIV_H
#define MEMOPT_DIV_H

#include "memopt_binary.h"
#include "memopt_fixed_point.h"

/* a / b * multiplier * 2^(shift - 31), |a| and |b| below 2^8, shift at most 23; by 0 it is 0. */
static inline int32_t memopt_quotient(int32_t a, int32_t b, int32_t multiplier, int32_t shift) {
  const uint32_t size = (uint32_t)(b < 0 ? -b : b);
  const int32_t value = b < 0 ? -a : a;
  const uint32_t twice = 2u * (uint32_t)(value < 0 ? ~value : value) + 1u;
  int32_t room, zeros, inverse, right;
  if (b == 0) {
    return 0;
  }
  room = 23 + memopt_leading_zeros(twice << 23);
  zeros = 23 + memopt_leading_zeros(size << 23);
  inverse = memopt_reciprocal((int32_t)((size << zeros) - 0x80000000u));
  right = 31 - zeros + room - shift;
  if (right > 31) { /* less than half a step, which runtimes shift by what C leaves open */
    return 0;
  }
  return memopt_round_shift(
      memopt_high_mul(memopt_high_mul(memopt_shift_left(value, room), inverse), multiplier), right);
}

/* What a quotient is stored as; p is the kernel's parameters. */
#define MEMOPT_STORED_QUOTIENT(p, x, y)                                                         \
  memopt_clamp(memopt_quotient((x) - (p)->a_zero_point, (y) - (p)->b_zero_point,                \
                               (p)->multiplier, (p)->shift) +                                   \
                   (p)->output_zero_point,                                                      \
               (p)->act_min, (p)->act_max)

#endif
