/* QUANTIZE of stored integers to another scale (TensorFlow Lite, reference/requantize.h). */
#ifndef MEMOPT_REQUANTIZE_H
#define MEMOPT_REQUANTIZE_H

#include "memopt_common.h"

/* Each element of type `from` as one of type `to`, low .. high. p is the kernel's parameters; the
 * result may take the place of the operand if it is no larger. */
#define MEMOPT_REQUANTIZE(from, to, low, high, p)                                             \
  do {                                                                                        \
    int32_t row;                                                                              \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                                 \
      const from *input = memopt_in_row(rows, in, 0, row);                                    \
      to *output = memopt_out_row(rows, out, row);                                            \
      int32_t i;                                                                              \
      for (i = 0; i < (p)->row_n; ++i) {                                                      \
        const int32_t value = input[i] - (p)->input_zero_point;                               \
        const int32_t steps =                                                                 \
            memopt_requantize(value, (p)->multiplier, (p)->shift) + (p)->output_zero_point;   \
        output[i] = (to)memopt_clamp(steps, low, high);                                       \
      }                                                                                       \
    }                                                                                         \
  } while (0)

#endif
