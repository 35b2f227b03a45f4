/* MEAN over neighbouring axes, int8: [rows][count][inner] to [rows][inner]. */
#ifndef MEMOPT_MEAN_S8_H
#define MEMOPT_MEAN_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
  int32_t offset; /* count * the input's zero point */
  int32_t multiplier, shift; /* of the scales and 1 / count; as memopt_requantize takes them */
  int32_t output_zero_point;
} memopt_mean_s8_params;

MEMOPT_KERNEL void memopt_mean_s8(const memopt_mean_s8_params *p, const memopt_rows *rows,
                                  const int8_t *input, int8_t *restrict output);

#endif
