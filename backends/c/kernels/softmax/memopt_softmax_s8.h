/* SOFTMAX over the last axis, int8 -> int8 (scale 1/256, zero point -128). A row is one vector.
 *
 * `exponential[d]` is gemmlowp's exp_on_negative_values of -d steps of the input
 * scale times beta, in Q0.31, for every d that TensorFlow Lite does not cut off:
 * computed when this code was written (softmax.py), equal bit for bit.
 */
#ifndef MEMOPT_SOFTMAX_S8_H
#define MEMOPT_SOFTMAX_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t depth;
  int32_t entries; /* 1 to 256 */
  const int32_t *exponential;
} memopt_softmax_s8_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_softmax_s8(const memopt_softmax_s8_params *p, const memopt_rows *rows,
                                     const int8_t *input, int8_t *output);

#endif
