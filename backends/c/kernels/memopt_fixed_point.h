/* gemmlowp's fixed-point numbers that are made at run time. */
#ifndef MEMOPT_FIXED_POINT_H
#define MEMOPT_FIXED_POINT_H

#include "memopt_common.h"

/* value * 2^bits, saturated. */
static inline int32_t memopt_scale_up(int32_t value, int32_t bits) {
  const int32_t limit = (int32_t)(((uint32_t)1 << (31 - bits)) - 1u);
  if (value > limit) {
    return INT32_MAX;
  }
  if (value < -limit) {
    return INT32_MIN;
  }
  return memopt_shift_left(value, bits);
}

/* 1 / (1 + x), x and the result in Q0.31, x in [0, 1): gemmlowp's
 * one_over_one_plus_x_for_x_in_0_1, three Newton steps from 48/17 - 32/17 d. */
static inline int32_t memopt_reciprocal(int32_t x) {
  const int32_t half_denominator = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t estimate = 1515870810 + memopt_high_mul(half_denominator, -1010580540);
  int32_t i;
  for (i = 0; i < 3; ++i) {
    const int32_t product = memopt_high_mul(half_denominator, estimate);
    const int32_t rest = ((int32_t)1 << 29) - product;
    estimate += memopt_scale_up(memopt_high_mul(estimate, rest), 2);
  }
  return memopt_scale_up(estimate, 1);
}

/* Of a value above 0. */
static inline int32_t memopt_leading_zeros(uint32_t value) {
  int32_t zeros = 0;
  while ((value & 0x80000000u) == 0u) {
    value <<= 1;
    ++zeros;
  }
  return zeros;
}

/* 1 / sqrt(value) as a multiplier with its shift: five steps of Newton's method, of numbers with 3
 * bits before the point (quantization_util.h: GetInvSqrtQuantizedMultiplierExp). */
static inline int32_t memopt_inverse_root(int32_t value, int32_t *shift) {
  int32_t x = (int32_t)1 << 28;
  int32_t half, i;
  *shift = 0;
  if (value <= 1) {
    return INT32_MAX;
  }
  *shift = 11;
  while (value >= (int32_t)1 << 29) {
    value /= 4;
    ++*shift;
  }
  while (value < (int32_t)1 << 27) { /* to 28 or 29 bits */
    value *= 4;
    --*shift;
  }
  half = ((value >> 1) + 1) >> 1;
  for (i = 0; i < 5; ++i) {
    const int32_t cube = memopt_scale_up(memopt_high_mul(memopt_high_mul(x, x), x), 6);
    x = memopt_scale_up(memopt_high_mul(((int32_t)1 << 28) + ((int32_t)1 << 27), x) -
                            memopt_high_mul(half, cube),
                        3);
  }
  x = memopt_high_mul(x, 1518500250); /* sqrt(1 / 2) */
  if (*shift < 0) {
    x = memopt_shift_left(x, -*shift);
    *shift = 0;
  }
  *shift = -*shift;
  return x;
}

#endif
