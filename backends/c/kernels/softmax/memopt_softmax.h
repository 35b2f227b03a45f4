/* SOFTMAX of bytes: gemmlowp's fixed-point numbers. */
#ifndef MEMOPT_SOFTMAX_H
#define MEMOPT_SOFTMAX_H

#include "memopt_fixed_point.h"

/* Vectors of `from`, whose least number is `least`, as those of `to`, low .. high, of scale
 * 2^-result_bits. `exponential[d]` is gemmlowp's exp_on_negative_values of -d steps of the input
 * scale times beta, in Q0.31, for every d that TensorFlow Lite does not cut off: computed when this
 * code was written (softmax.py), equal bit for bit. A sum that would overflow, where runtimes stop or
 * give anything, is the largest one. p is the kernel's parameters; the result may take
 * the place of the operand if it is no larger. */
#define MEMOPT_SOFTMAX(from, least, to, result_bits, low, high, p)                            \
  do {                                                                                        \
    int32_t row;                                                                              \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                 \
      const from *input = (const from *)memopt_in_row(rows, in, 0, row);                      \
      to *output = (to *)memopt_out_row(rows, out, row);                                      \
      int32_t max = least;                                                                    \
      int32_t sum = 0; /* Q12.19; positive, for the largest element counts as one */          \
      int32_t zeros, scale, bits, i;                                                          \
      for (i = 0; i < (p)->depth; ++i) {                                                      \
        max = input[i] > max ? input[i] : max;                                                \
      }                                                                                       \
      for (i = 0; i < (p)->depth; ++i) {                                                      \
        const int32_t below = max - input[i];                                                 \
        if (below < (p)->entries) {                                                           \
          const int32_t more = memopt_round_shift((p)->exponential[below], 12);               \
          sum = sum > INT32_MAX - more ? INT32_MAX : sum + more;                              \
        }                                                                                     \
      }                                                                                       \
      zeros = memopt_leading_zeros((uint32_t)sum);                                            \
      scale = memopt_reciprocal((int32_t)(((uint32_t)sum << zeros) - 0x80000000u));           \
      bits = 12 - zeros + 31 - (result_bits);                                                 \
      for (i = 0; i < (p)->depth; ++i) {                                                      \
        const int32_t below = max - input[i];                                                 \
        int32_t value = low;                                                                  \
        if (below < (p)->entries && bits < 32) {                                              \
          value += memopt_round_shift(memopt_high_mul(scale, (p)->exponential[below]), bits); \
        }                                                                                     \
        output[i] = (to)memopt_clamp(value, low, high);                                       \
      }                                                                                       \
    }                                                                                         \
  } while (0)

#endif
