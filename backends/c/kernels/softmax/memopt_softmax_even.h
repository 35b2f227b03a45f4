/* SOFTMAX of bytes that rounds as ONNX's: an exponential over the sum of all, over the result's scale,
 * all three and both quotients as float32, rounded to even. A product of integers is off by less than
 * 2^-13 steps; where that may matter, integers divide as float32 does. */
#ifndef MEMOPT_SOFTMAX_EVEN_H
#define MEMOPT_SOFTMAX_EVEN_H

#include "memopt_common.h"

#include <string.h>

#define SOFTMAX_EVEN_SPARE 7  /* bits of an exponential that are 0 */
#define SOFTMAX_EVEN_NEAR 8   /* a product is off by less, in 2^-16 */
#define SOFTMAX_EVEN_LEAST 112u /* exponent of the least scale of which the steps fit, 2^-15 */
#define SOFTMAX_EVEN_ADDED 252 /* exponentials whose sum in 2^-24 has 32 bits; a multiple of 4 */

/* A number above 0: mantissa * 2^exponent, with 24 bits in the mantissa. */
typedef struct {
  uint32_t mantissa;
  int32_t exponent;
} memopt_softmax_float;

/* What does not depend on the element: `factor` makes steps, with 16 bits behind the point, and `near` is
 * how near to a half they are where integers divide: always, where there are too many. */
typedef struct {
  uint32_t factor, near;
  memopt_softmax_float total, scale;
} memopt_softmax_even;

/* The float32 that is nearest to a number of at least 2^24. */
static memopt_softmax_float memopt_softmax_float_of(uint64_t number) {
  memopt_softmax_float result = {0u, 1};
  uint32_t lost = 0;
  for (; number >> 25 != 0u; number >>= 1) {
    lost |= (uint32_t)number & 1u;
    ++result.exponent;
  }
  result.mantissa = (uint32_t)number >> 1;
  result.mantissa += (uint32_t)number & (lost | result.mantissa) & 1u;
  if (result.mantissa >> 24 != 0u) {
    result.mantissa >>= 1;
    ++result.exponent;
  }
  return result;
}

/* a / b as float32. */
static memopt_softmax_float memopt_softmax_quotient(memopt_softmax_float a,
                                                    memopt_softmax_float b) {
  memopt_softmax_float result;
  int32_t bit;
  result.mantissa = 0;
  result.exponent = a.exponent - b.exponent - 23;
  if (a.mantissa < b.mantissa) {
    a.mantissa <<= 1;
    --result.exponent;
  }
  for (bit = 0; bit < 24; ++bit) {
    result.mantissa <<= 1;
    if (a.mantissa >= b.mantissa) {
      a.mantissa -= b.mantissa;
      ++result.mantissa;
    }
    a.mantissa <<= 1;
  }
  if (a.mantissa > b.mantissa || (a.mantissa == b.mantissa && (result.mantissa & 1u) != 0u)) {
    ++result.mantissa;
  }
  if (result.mantissa >> 24 != 0u) {
    result.mantissa >>= 1;
    ++result.exponent;
  }
  return result;
}

/* 2^63 / divisor, whose highest bit is 1, but for 2^-28 of it: one step of Newton's method. */
static uint32_t memopt_softmax_inverse(uint32_t divisor) {
  const uint32_t first = (0xffffffffu / (divisor >> 16)) << 15;
  const uint32_t part = (uint32_t)((uint64_t)first * divisor >> 32);
  const uint64_t second = (uint64_t)first * (0u - part) >> 31;
  return second >> 32 != 0u ? 0xffffffffu : (uint32_t)second;
}

/* `total` of exponentials in 2^-24, of which the largest is 1. */
static MEMOPT_NOINLINE memopt_softmax_even memopt_softmax_even_of(uint64_t total, float scale) {
  memopt_softmax_even even;
  uint32_t word, shift;
  uint64_t product;
  memcpy(&word, &scale, sizeof word);
  even.scale.mantissa = (word & 0x7fffffu) | 0x800000u;
  even.scale.exponent = (int32_t)(word >> 23) - 150;
  even.near = word >> 23 < SOFTMAX_EVEN_LEAST ? 0x8000u : SOFTMAX_EVEN_NEAR;
  even.total = memopt_softmax_float_of(total);
  product = (uint64_t)even.total.mantissa * even.scale.mantissa; /* 2^46 to 2^48 */
  word = product >> 47 != 0u ? 16u : 15u;
  shift = (uint32_t)(22 + even.total.exponent + even.scale.exponent) + word;
  even.factor = memopt_softmax_inverse((uint32_t)(product >> word));
  even.factor = shift < 32u ? even.factor >> shift : 0u; /* or there are too many steps */
  return even;
}

/* The steps of an exponential, as floats say, or more than are stored. */
static MEMOPT_NOINLINE uint32_t memopt_softmax_even_exactly(const memopt_softmax_even *even,
                                                            uint32_t exponential) {
  memopt_softmax_float number;
  uint32_t half, rest, steps;
  number.mantissa = exponential >> SOFTMAX_EVEN_SPARE;
  number.exponent = 0;
  if (number.mantissa == 0u) {
    return 0;
  }
  for (; number.mantissa < 0x800000u; number.mantissa <<= 1) {
    --number.exponent;
  }
  if (number.mantissa >> 24 != 0u) {
    number.mantissa >>= 1;
    ++number.exponent;
  }
  number = memopt_softmax_quotient(memopt_softmax_quotient(number, even->total), even->scale);
  if (number.exponent < -24) {
    return 0; /* less than a half */
  }
  if (number.exponent >= 0) {
    return UINT32_MAX;
  }
  half = (uint32_t)1 << (-number.exponent - 1);
  rest = number.mantissa & (2u * half - 1u);
  steps = number.mantissa >> -number.exponent;
  return steps + (rest > half || (rest == half && (steps & 1u) != 0u) ? 1u : 0u);
}

/* The steps of an exponential in 2^-31. */
static inline uint32_t memopt_softmax_even_steps(const memopt_softmax_even *even, uint32_t factor,
                                                 uint32_t near, uint32_t exponential) {
  const uint32_t value = (uint32_t)((uint64_t)exponential * factor >> 32) + (0x8000u + near);
  if ((value & 0xffffu) < 2u * near) {
    return memopt_softmax_even_exactly(even, exponential);
  }
  return value >> 16; /* `near` carries nothing */
}

#endif
