/* Any function of one int8, as a table of 256: LOGISTIC, RELU, QUANTIZE between int8 types.
 * Computed when this code was written, equal to TensorFlow Lite Micro for every value. */
#ifndef MEMOPT_LOOKUP_S8_H
#define MEMOPT_LOOKUP_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  const int8_t *table; /* [256], of -128 ... 127 */
} memopt_lookup_s8_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_lookup_s8(const memopt_lookup_s8_params *p, const memopt_rows *rows,
                                    const int8_t *input, int8_t *output);

#endif
