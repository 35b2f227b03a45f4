/* What the kernels share that call CMSIS-NN's functions where the build has MEMOPT_CMSIS_NN. Where
 * it has not, and where the library at hand asks for more scratch than was planned or refuses,
 * another kernel computes, with equal results: parameters begin with that one and its parameters.
 */
#ifndef MEMOPT_CMSIS_NN_H
#define MEMOPT_CMSIS_NN_H

#include "memopt_common.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t act_min, act_max;
  int32_t scratch_bytes;
} memopt_cmsis_nn_window;

typedef struct {
  int32_t input_zero_point, output_zero_point;
  const int8_t *weights;
  const int32_t *bias;       /* [out_c], nothing folded into it */
  const int32_t *multiplier; /* [out_c] */
  const int32_t *shift;      /* [out_c], to the left */
} memopt_cmsis_nn_filter;

#ifdef MEMOPT_CMSIS_NN
#include "arm_nnfunctions.h"

static inline cmsis_nn_dims memopt_cmsis_nn_dims(int32_t n, int32_t h, int32_t w, int32_t c) {
  cmsis_nn_dims dims;
  dims.n = n;
  dims.h = h;
  dims.w = w;
  dims.c = c;
  return dims;
}

static inline cmsis_nn_tile memopt_cmsis_nn_tile(int32_t h, int32_t w) {
  cmsis_nn_tile tile;
  tile.w = w;
  tile.h = h;
  return tile;
}

static inline cmsis_nn_activation memopt_cmsis_nn_range(int32_t min, int32_t max) {
  cmsis_nn_activation range;
  range.min = min;
  range.max = max;
  return range;
}

static inline cmsis_nn_context memopt_cmsis_nn_room(void *scratch, int32_t bytes) {
  cmsis_nn_context context;
  context.buf = bytes > 0 ? scratch : 0;
  context.size = bytes;
  return context;
}

static inline cmsis_nn_pool_params memopt_cmsis_nn_pool(const memopt_cmsis_nn_window *w) {
  cmsis_nn_pool_params how;
  how.stride = memopt_cmsis_nn_tile(w->stride_h, w->stride_w);
  how.padding = memopt_cmsis_nn_tile(w->pad_top, w->pad_left);
  how.activation = memopt_cmsis_nn_range(w->act_min, w->act_max);
  return how;
}

/* CMSIS-NN's types say that it may write multipliers; it does not. */
static inline cmsis_nn_per_channel_quant_params
memopt_cmsis_nn_channels(const memopt_cmsis_nn_filter *f) {
  cmsis_nn_per_channel_quant_params quantization;
  quantization.multiplier = (int32_t *)(uintptr_t)f->multiplier;
  quantization.shift = (int32_t *)(uintptr_t)f->shift;
  return quantization;
}
#endif

#endif
