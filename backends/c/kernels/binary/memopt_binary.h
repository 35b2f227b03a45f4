/* Operators of two operands: the walk over their rows and elements, for every type. */
#ifndef MEMOPT_BINARY_H
#define MEMOPT_BINARY_H

#include "memopt_common.h"

/* Each element of the result is `value` of `x` and `y`, one of each operand. p is the kernel's
 * parameters, with `row_n`, the elements of a row, and the steps; rows, in and out its arguments. A
 * step is 1, or 0 where one element serves the whole row; a step of rows is 1, 0 where one row
 * serves all, or -1 where an element serves each. The result may take the place of an operand. */
#define MEMOPT_BINARY(type, p, value) MEMOPT_BINARY_TO(type, type, p, value)

/* The same, of elements of another type than the operands'. */
#define MEMOPT_BINARY_TO(type, result, p, value)                                              \
  do {                                                                                        \
    int32_t row;                                                                              \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                 \
      const type *a = (const type *)memopt_in_row(                                            \
          rows, in, 0, (p)->a_row_step > 0 ? row : rows->in_first);                           \
      const type *b = (const type *)memopt_in_row(                                            \
          rows, in, 1, (p)->b_row_step > 0 ? row : rows->in_first);                           \
      result *output = (result *)memopt_out_row(rows, out, row);                              \
      int32_t i;                                                                              \
      a += (p)->a_row_step < 0 ? row - rows->in_first : 0;                                    \
      b += (p)->b_row_step < 0 ? row - rows->in_first : 0;                                    \
      for (i = 0; i < (p)->row_n; ++i) {                                                      \
        const type x = *a;                                                                    \
        const type y = *b;                                                                    \
        output[i] = (result)(value);                                                          \
        a += (p)->a_step;                                                                     \
        b += (p)->b_step;                                                                     \
      }                                                                                       \
    }                                                                                         \
  } while (0)

/* An operand of a sum of stored integers, `side` a or b, brought to the common scale. */
#define MEMOPT_SCALED(p, side, x)                                                             \
  memopt_round_shift(                                                                         \
      memopt_high_mul_30(memopt_shift_left((x) - (p)->side##_zero_point, (p)->left_shift),    \
                         (p)->side##_multiplier),                                             \
      -(p)->side##_shift)

/* What such a sum is stored as. */
#define MEMOPT_STORED_SUM(p, sum)                                                             \
  memopt_clamp(memopt_round_shift(memopt_high_mul_30(sum, (p)->output_multiplier),            \
                                  -(p)->output_shift) +                                       \
                   (p)->output_zero_point,                                                    \
               (p)->act_min, (p)->act_max)

#endif
