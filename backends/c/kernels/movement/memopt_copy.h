/* Bytes from one place to another: RESHAPE where it is no view. A row is `row_n` bytes. */
#ifndef MEMOPT_COPY_H
#define MEMOPT_COPY_H

#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_copy_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_copy(const memopt_copy_params *p, const memopt_rows *rows,
                               const uint8_t *input, uint8_t *output);

#endif
