/* FULLY_CONNECTED, int8, per-tensor or per-axis multipliers. A row is one sample.
 *
 * `bias` is folded with the input's zero point as in memopt_conv_2d_s8.h. One
 * multiplier serves every output if `per_axis` is 0.
 */
#ifndef MEMOPT_FULLY_CONNECTED_S8_H
#define MEMOPT_FULLY_CONNECTED_S8_H

#include "memopt_common.h"

typedef struct {
  int32_t in_n, out_n;
  int32_t output_zero_point;
  int32_t act_min, act_max;
  int32_t per_axis;
  const int8_t *weights;     /* [out_n][in_n] */
  const int32_t *bias;       /* [out_n] */
  const int32_t *multiplier; /* [out_n] or [1] */
  const int8_t *shift;       /* [out_n] or [1], as memopt_requantize takes it */
} memopt_fully_connected_s8_params;

MEMOPT_KERNEL void memopt_fully_connected_s8(const memopt_fully_connected_s8_params *p,
                                             const memopt_rows *rows, const int8_t *input,
                                             int8_t *restrict output);

#endif
