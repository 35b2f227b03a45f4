/* PRELU of bytes: what is below zero is multiplied with an element of the other operand, and
 * requantised with a multiplier of its own (TensorFlow Lite, reference/prelu.h).
 */
#ifndef MEMOPT_PRELU_H
#define MEMOPT_PRELU_H

#include "memopt_binary.h"

/* The stored result of x and y; p is the kernel's parameters. */
#define MEMOPT_PRELU(p, x, y)                                                             \
  memopt_clamp(                                                                           \
      ((x) >= (p)->a_zero_point                                                           \
           ? memopt_requantize((x) - (p)->a_zero_point, (p)->above_multiplier,            \
                               (p)->above_shift)                                          \
           : memopt_requantize(((x) - (p)->a_zero_point) * ((y) - (p)->b_zero_point),     \
                               (p)->below_multiplier, (p)->below_shift)) +                \
          (p)->output_zero_point,                                                         \
      (p)->act_min, (p)->act_max)

#endif
