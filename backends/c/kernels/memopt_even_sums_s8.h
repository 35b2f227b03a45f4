/* Sums of int8 that are rounded as ONNX rounds their means, without floats. */
#ifndef MEMOPT_EVEN_SUMS_S8_H
#define MEMOPT_EVEN_SUMS_S8_H

#include "memopt_common.h"

#define MEMOPT_EVEN_SUM_NUMBERS 5 /* count, left, multiplier, shift, base */

/* A number of which a product is right. */
static inline int32_t memopt_line_of(int32_t number, int32_t left, int32_t multiplier, int32_t shift,
                                     int32_t base) {
  const int64_t product = (int64_t)memopt_shift_left(number, left) * multiplier;
  return memopt_shift_right((int32_t)memopt_shift_right_64(product, 32) + base, shift);
}

/* low .. high, of a sum less its zero point. The line has one product that is right for every sum; or, a
 * multiplier of 0, behind `base` others in `least` the least sums of low + 1 .. high. */
static inline int8_t memopt_even_sum_s8(const int32_t *line, const int32_t *least, int32_t sum,
                                        int32_t zero_point, int32_t low, int32_t high) {
  int32_t result = low;
  int32_t step;
  if (line[2] > 0) {
    result = memopt_line_of(sum, line[1], line[2], line[3], line[4]) + zero_point;
    return (int8_t)memopt_clamp(result, low, high);
  }
  least += line[4];
  for (step = 128; step > 0; step >>= 1) {
    if (result + step <= high && sum >= least[result + step - 1 - low]) {
      result += step;
    }
  }
  return (int8_t)result;
}

#endif
