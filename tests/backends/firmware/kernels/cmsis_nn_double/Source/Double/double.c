/* What the functions are documented to compute, one element at a time: TensorFlow Lite's int8
 * arithmetic. Each writes over all the scratch that it asked for, as a real one may, and on a host
 * says on stderr how often it was called. It has the sizes of a core with the DSP extension, with
 * DOUBLE_MVE of one with the vector extension, and with DOUBLE_GREEDY asks for more than any.
 */
#include "arm_nnfunctions.h"

#include <stdio.h>
#include <string.h>

#ifndef DOUBLE_GREEDY
#define DOUBLE_GREEDY 0
#endif

#ifdef __arm__
#define CALLED(name) ((void)0)
#else
#define CALLED(name)                          \
  do {                                        \
    static int calls;                         \
    fprintf(stderr, #name " %d\n", ++calls);  \
  } while (0)
#endif

static int32_t high(int32_t a, int32_t b) {
  const int64_t product = (int64_t)a * b;
  const int64_t nudged = product + (product >= 0 ? 1 << 30 : 1 - (1 << 30));
  if (a == b && a == INT32_MIN) {
    return INT32_MAX;
  }
  return (int32_t)(nudged / ((int64_t)1 << 31));
}

static int32_t divided(int32_t x, int32_t bits) {
  const int64_t half = bits > 0 ? (int64_t)1 << (bits - 1) : 0;
  const int64_t size = x < 0 ? -(int64_t)x : x;
  const int64_t result = (size + half) >> bits;
  return (int32_t)(x < 0 ? -result : result);
}

static int32_t requantized(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  return divided(high((int32_t)((uint32_t)x << left), multiplier), shift > 0 ? 0 : -shift);
}

static int8_t clamped(int32_t x, int32_t min, int32_t max) {
  return (int8_t)(x < min ? min : x > max ? max : x);
}

/* Whether there is room; all of it is written over. */
static int use(const cmsis_nn_context *context, int32_t bytes) {
  if (bytes > context->size || (bytes > 0 && context->buf == NULL)) {
    return 0;
  }
  if (bytes > 0) {
    memset(context->buf, 0x5a, (size_t)bytes);
  }
  return 1;
}

static int32_t columns(const cmsis_nn_dims *input, const cmsis_nn_dims *filter) {
  const int32_t window = filter->w * filter->h * input->c;
#ifdef DOUBLE_MVE
  return 4 * ((window + 15) / 16) * 16;
#else
  return 2 * ((window + 3) / 4 * 4) * 2;
#endif
}

int32_t arm_convolve_wrapper_s8_get_buffer_size(const cmsis_nn_conv_params *how,
                                                const cmsis_nn_dims *input,
                                                const cmsis_nn_dims *filter,
                                                const cmsis_nn_dims *output) {
  (void)output;
  if (how->padding.w == 0 && how->padding.h == 0 && filter->w == 1 && filter->h == 1 &&
      how->dilation.w == 1 && how->dilation.h == 1) {
    return DOUBLE_GREEDY;
  }
  return columns(input, filter) + DOUBLE_GREEDY;
}

arm_cmsis_nn_status arm_convolve_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_conv_params *how,
    const cmsis_nn_per_channel_quant_params *quantization, const cmsis_nn_dims *input,
    const int8_t *in, const cmsis_nn_dims *filter, const int8_t *weights, const cmsis_nn_dims *bias,
    const int32_t *biases, const cmsis_nn_dims *output, int8_t *out) {
  int32_t y, x, o, i, j, c;
  if (filter->c != input->c || filter->n != output->c || bias->c != output->c || input->n != 1 ||
      !use(context, arm_convolve_wrapper_s8_get_buffer_size(how, input, filter, output))) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  CALLED(arm_convolve_wrapper_s8);
  for (y = 0; y < output->h; ++y) {
    for (x = 0; x < output->w; ++x) {
      for (o = 0; o < output->c; ++o) {
        int32_t sum = biases[o];
        for (i = 0; i < filter->h; ++i) {
          for (j = 0; j < filter->w; ++j) {
            const int32_t iy = y * how->stride.h - how->padding.h + i * how->dilation.h;
            const int32_t ix = x * how->stride.w - how->padding.w + j * how->dilation.w;
            if (iy < 0 || iy >= input->h || ix < 0 || ix >= input->w) {
              continue;
            }
            for (c = 0; c < input->c; ++c) {
              sum += (in[(iy * input->w + ix) * input->c + c] + how->input_offset) *
                     weights[((o * filter->h + i) * filter->w + j) * filter->c + c];
            }
          }
        }
        sum = requantized(sum, quantization->multiplier[o], quantization->shift[o]);
        *out++ = clamped(sum + how->output_offset, how->activation.min, how->activation.max);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_depthwise_conv_wrapper_s8_get_buffer_size(const cmsis_nn_dw_conv_params *how,
                                                      const cmsis_nn_dims *input,
                                                      const cmsis_nn_dims *filter,
                                                      const cmsis_nn_dims *output) {
  if (input->c != output->c || input->n != 1 || how->dilation.w != 1 || how->dilation.h != 1) {
    return DOUBLE_GREEDY;
  }
#ifdef DOUBLE_MVE
  return 4 * 124 * filter->w * filter->h;
#else
  if (filter->w == 3 && filter->h == 3 && how->padding.h <= 1 && how->padding.w <= 1) {
    return DOUBLE_GREEDY;
  }
  return input->c * filter->w * filter->h * 2 + DOUBLE_GREEDY;
#endif
}

arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(
    const cmsis_nn_context *context, const cmsis_nn_dw_conv_params *how,
    const cmsis_nn_per_channel_quant_params *quantization, const cmsis_nn_dims *input,
    const int8_t *in, const cmsis_nn_dims *filter, const int8_t *weights, const cmsis_nn_dims *bias,
    const int32_t *biases, const cmsis_nn_dims *output, int8_t *out) {
  int32_t y, x, o, i, j;
  if (how->ch_mult * input->c != output->c || filter->c != output->c || bias->c != output->c ||
      !use(context, arm_depthwise_conv_wrapper_s8_get_buffer_size(how, input, filter, output))) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  CALLED(arm_depthwise_conv_wrapper_s8);
  for (y = 0; y < output->h; ++y) {
    for (x = 0; x < output->w; ++x) {
      for (o = 0; o < output->c; ++o) {
        int32_t sum = biases[o];
        for (i = 0; i < filter->h; ++i) {
          for (j = 0; j < filter->w; ++j) {
            const int32_t iy = y * how->stride.h - how->padding.h + i * how->dilation.h;
            const int32_t ix = x * how->stride.w - how->padding.w + j * how->dilation.w;
            if (iy >= 0 && iy < input->h && ix >= 0 && ix < input->w) {
              sum += (in[(iy * input->w + ix) * input->c + o / how->ch_mult] + how->input_offset) *
                     weights[(i * filter->w + j) * filter->c + o];
            }
          }
        }
        sum = requantized(sum, quantization->multiplier[o], quantization->shift[o]);
        *out++ = clamped(sum + how->output_offset, how->activation.min, how->activation.max);
      }
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_fully_connected_s8_get_buffer_size(const cmsis_nn_dims *filter) {
#ifdef DOUBLE_MVE
  return 4 * filter->c;
#else
  (void)filter;
  return DOUBLE_GREEDY;
#endif
}

arm_cmsis_nn_status arm_fully_connected_s8(
    const cmsis_nn_context *context, const cmsis_nn_fc_params *how,
    const cmsis_nn_per_tensor_quant_params *quantization, const cmsis_nn_dims *input,
    const int8_t *in, const cmsis_nn_dims *filter, const int8_t *weights, const cmsis_nn_dims *bias,
    const int32_t *biases, const cmsis_nn_dims *output, int8_t *out) {
  int32_t n, o, i;
  if (filter->n != input->h * input->w * input->c || filter->c != output->c ||
      bias->c != output->c || input->n != output->n || how->filter_offset != 0 ||
      !use(context, arm_fully_connected_s8_get_buffer_size(filter))) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  CALLED(arm_fully_connected_s8);
  for (n = 0; n < output->n; ++n, in += filter->n) {
    for (o = 0; o < output->c; ++o) {
      int32_t sum = biases[o];
      for (i = 0; i < filter->n; ++i) {
        sum += (in[i] + how->input_offset) * weights[o * filter->n + i];
      }
      sum = requantized(sum, quantization->multiplier, quantization->shift);
      *out++ = clamped(sum + how->output_offset, how->activation.min, how->activation.max);
    }
  }
  return ARM_CMSIS_NN_SUCCESS;
}

int32_t arm_avgpool_s8_get_buffer_size(const int output_x, const int channels) {
  (void)output_x;
#ifdef DOUBLE_MVE
  (void)channels;
  return 0;
#else
  return channels * 4 + DOUBLE_GREEDY;
#endif
}

static void pooled(const cmsis_nn_pool_params *how, const cmsis_nn_dims *input, const int8_t *in,
                   const cmsis_nn_dims *filter, const cmsis_nn_dims *output, int8_t *out,
                   int is_mean) {
  int32_t y, x, c, i, j;
  for (y = 0; y < output->h; ++y) {
    for (x = 0; x < output->w; ++x) {
      for (c = 0; c < output->c; ++c) {
        int32_t sum = 0, count = 0, most = -128;
        for (i = 0; i < filter->h; ++i) {
          for (j = 0; j < filter->w; ++j) {
            const int32_t iy = y * how->stride.h - how->padding.h + i;
            const int32_t ix = x * how->stride.w - how->padding.w + j;
            if (iy >= 0 && iy < input->h && ix >= 0 && ix < input->w) {
              const int32_t value = in[(iy * input->w + ix) * input->c + c];
              most = value > most ? value : most;
              sum += value;
              ++count;
            }
          }
        }
        if (is_mean) {
          most = (sum + (sum > 0 ? count / 2 : -count / 2)) / count;
        }
        *out++ = clamped(most, how->activation.min, how->activation.max);
      }
    }
  }
}

arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *context, const cmsis_nn_pool_params *how,
                                   const cmsis_nn_dims *input, const int8_t *in,
                                   const cmsis_nn_dims *filter, const cmsis_nn_dims *output,
                                   int8_t *out) {
  if (!use(context, arm_avgpool_s8_get_buffer_size(output->w, input->c))) {
    return ARM_CMSIS_NN_ARG_ERROR;
  }
  CALLED(arm_avgpool_s8);
  pooled(how, input, in, filter, output, out, 1);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_max_pool_s8(const cmsis_nn_context *context,
                                    const cmsis_nn_pool_params *how, const cmsis_nn_dims *input,
                                    const int8_t *in, const cmsis_nn_dims *filter,
                                    const cmsis_nn_dims *output, int8_t *out) {
  (void)context;
  CALLED(arm_max_pool_s8);
  pooled(how, input, in, filter, output, out, 0);
  return ARM_CMSIS_NN_SUCCESS;
}

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *a, const int8_t *b, const int32_t offset_1, const int32_t multiplier_1,
    const int32_t shift_1, const int32_t offset_2, const int32_t multiplier_2,
    const int32_t shift_2, const int32_t left_shift, int8_t *out, const int32_t out_offset,
    const int32_t out_multiplier, const int32_t out_shift, const int32_t min, const int32_t max,
    const int32_t size) {
  int32_t i;
  CALLED(arm_elementwise_add_s8);
  for (i = 0; i < size; ++i) {
    const int32_t x = (a[i] + offset_1) * (1 << left_shift);
    const int32_t y = (b[i] + offset_2) * (1 << left_shift);
    const int32_t sum =
        requantized(x, multiplier_1, shift_1) + requantized(y, multiplier_2, shift_2);
    out[i] = clamped(requantized(sum, out_multiplier, out_shift) + out_offset, min, max);
  }
  return ARM_CMSIS_NN_SUCCESS;
}

/* gemmlowp's exp_on_negative_values of Q5.26, in Q0.31. */
static int32_t exponential(int32_t a) {
  static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
  const int32_t within = (a & ((1 << 24) - 1)) - (1 << 24);
  const int32_t rest = within - a;
  const int32_t x = within * 32 + (1 << 28);
  const int32_t x2 = high(x, x);
  const int32_t cubes = divided(high(x2, x2), 2) + high(x2, x);
  const int32_t tail = x + divided(high(cubes, 715827883) + x2, 1);
  int32_t result = 1895147668 + high(1895147668, tail);
  int k;
  for (k = 0; k < 7; ++k) {
    if (rest & (1 << (24 + k))) {
      result = high(result, factors[k]);
    }
  }
  return a == 0 ? INT32_MAX : result;
}

static int32_t doubled(int32_t x, int times) {
  const int64_t wide = (int64_t)x * (1 << times);
  return wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

/* 1 / (1 + x), both Q0.31: three steps of Newton's. */
static int32_t reciprocal(int32_t x) {
  const int32_t half = (int32_t)(((int64_t)x + INT32_MAX + 1) / 2);
  int32_t estimate = 1515870810 + high(half, -1010580540);
  int k;
  for (k = 0; k < 3; ++k) {
    estimate += doubled(high(estimate, (1 << 29) - high(half, estimate)), 2);
  }
  return doubled(estimate, 1);
}

void arm_softmax_s8(const int8_t *in, const int32_t rows, const int32_t size,
                    const int32_t multiplier, const int32_t shift, const int32_t diff_min,
                    int8_t *out) {
  int32_t row, i;
  CALLED(arm_softmax_s8);
  for (row = 0; row < rows; ++row, in += size, out += size) {
    int32_t most = in[0], sum = 0, zeros = 0, scale;
    for (i = 1; i < size; ++i) {
      most = in[i] > most ? in[i] : most;
    }
    for (i = 0; i < size; ++i) {
      if (in[i] - most >= diff_min) {
        sum += divided(exponential(high((in[i] - most) * (1 << shift), multiplier)), 12);
      }
    }
    while (!(((uint32_t)sum << zeros) & 0x80000000u)) {
      ++zeros;
    }
    scale = reciprocal((int32_t)(((uint32_t)sum << zeros) - 0x80000000u));
    for (i = 0; i < size; ++i) {
      int32_t value = -128;
      if (in[i] - most >= diff_min) {
        const int32_t each = exponential(high((in[i] - most) * (1 << shift), multiplier));
        value += divided(high(scale, each), 12 - zeros + 23);
      }
      out[i] = clamped(value, -128, 127);
    }
  }
}
