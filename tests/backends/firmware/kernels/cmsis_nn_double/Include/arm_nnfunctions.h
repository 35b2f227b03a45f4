/* A stand-in for CMSIS-NN in tests: what of its published interface (releases 4 and later) memopt's
 * projects call, by the same names and types. Ours, and no part of CMSIS-NN.
 */
#ifndef ARM_NNFUNCTIONS_H
#define ARM_NNFUNCTIONS_H

#include <stdint.h>

typedef enum {
  ARM_CMSIS_NN_SUCCESS = 0,
  ARM_CMSIS_NN_ARG_ERROR = -1
} arm_cmsis_nn_status;

typedef struct { int32_t w, h; } cmsis_nn_tile;
typedef struct { void *buf; int32_t size; } cmsis_nn_context;
typedef struct { int32_t n, h, w, c; } cmsis_nn_dims;
typedef struct { int32_t *multiplier, *shift; } cmsis_nn_per_channel_quant_params;
typedef struct { int32_t multiplier, shift; } cmsis_nn_per_tensor_quant_params;
typedef struct { int32_t min, max; } cmsis_nn_activation;
typedef struct {
  int32_t input_offset, output_offset;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_conv_params;
typedef struct {
  int32_t input_offset, output_offset, ch_mult;
  cmsis_nn_tile stride, padding, dilation;
  cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;
typedef struct {
  cmsis_nn_tile stride, padding;
  cmsis_nn_activation activation;
} cmsis_nn_pool_params;
typedef struct {
  int32_t input_offset, filter_offset, output_offset;
  cmsis_nn_activation activation;
} cmsis_nn_fc_params;

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *, const cmsis_nn_conv_params *,
    const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *input, const int8_t *,
    const cmsis_nn_dims *filter, const int8_t *, const cmsis_nn_dims *bias, const int32_t *,
    const cmsis_nn_dims *output, int8_t *);
int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *, const cmsis_nn_dims *,
                                                const cmsis_nn_dims *, const cmsis_nn_dims *);
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *, const cmsis_nn_dw_conv_params *,
    const cmsis_nn_per_channel_quant_params *, const cmsis_nn_dims *input, const int8_t *,
    const cmsis_nn_dims *filter, const int8_t *, const cmsis_nn_dims *bias, const int32_t *,
    const cmsis_nn_dims *output, int8_t *);
int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *,
                                                      const cmsis_nn_dims *, const cmsis_nn_dims *,
                                                      const cmsis_nn_dims *);
arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *, const cmsis_nn_fc_params *, const cmsis_nn_per_tensor_quant_params *,
    const cmsis_nn_dims *input, const int8_t *, const cmsis_nn_dims *filter, const int8_t *,
    const cmsis_nn_dims *bias, const int32_t *, const cmsis_nn_dims *output, int8_t *);
int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter);
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *, const cmsis_nn_pool_params *,
                                   const cmsis_nn_dims *input, const int8_t *,
                                   const cmsis_nn_dims *filter, const cmsis_nn_dims *output,
                                   int8_t *);
int32_t arm_avgpool_s8_get_buffer_size(const int output_x, const int channels);
arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *, const cmsis_nn_pool_params *,
                                    const cmsis_nn_dims *input, const int8_t *,
                                    const cmsis_nn_dims *filter, const cmsis_nn_dims *output,
                                    int8_t *);
arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *, const int8_t *, const int32_t offset_1, const int32_t multiplier_1,
    const int32_t shift_1, const int32_t offset_2, const int32_t multiplier_2,
    const int32_t shift_2, const int32_t left_shift, int8_t *, const int32_t out_offset,
    const int32_t out_multiplier, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size);
void arm_softmax_s8(const int8_t *, const int32_t rows, const int32_t size,
                    const int32_t multiplier, const int32_t shift, const int32_t diff_min,
                    int8_t *);

#endif
