/* SQUARED_DIFFERENCE of stored integers: both are brought to a common scale, their difference is squared
 * and requantised (TensorFlow Lite Micro, squared_difference.cc). */
#ifndef MEMOPT_SQUARED_DIFFERENCE_H
#define MEMOPT_SQUARED_DIFFERENCE_H

#include "memopt_binary.h"

/* |value| at most 2^15. */
static inline int32_t memopt_square(int32_t value) { return value * value; }

/* What a square is stored as, unless it is clamped; p is the kernel's parameters. */
#define MEMOPT_STORED_SQUARE(p, x, y)                                                            \
  (memopt_requantize(memopt_square(MEMOPT_SCALED(p, a, x) - MEMOPT_SCALED(p, b, y)),             \
                     (p)->multiplier, (p)->shift) +                                              \
   (p)->output_zero_point)

#endif
