/* DEPTHWISE_CONV_2D, int8, as a whole: CMSIS-NN's arm_depthwise_conv_wrapper_s8. */
#include "memopt_cmsis_nn.h"

typedef struct {
  memopt_kernel *kernel;
  const void *params;
  memopt_cmsis_nn_window window;
  memopt_cmsis_nn_filter filter; /* weights [k_h][k_w][out_c] */
} memopt_cmsis_depthwise_conv_2d_s8_params;

#ifdef MEMOPT_CMSIS_NN
/* Whether CMSIS-NN has computed it. */
static int32_t cmsis_depthwise_conv_2d_s8(const memopt_cmsis_depthwise_conv_2d_s8_params *p,
                                          const void *in, void *out, void *scratch) {
  const memopt_cmsis_nn_window *const w = &p->window;
  const memopt_cmsis_nn_filter *const f = &p->filter;
  const cmsis_nn_dims input = memopt_cmsis_nn_dims(1, w->in_h, w->in_w, w->in_c);
  const cmsis_nn_dims filter = memopt_cmsis_nn_dims(1, w->k_h, w->k_w, w->out_c);
  const cmsis_nn_dims bias = memopt_cmsis_nn_dims(1, 1, 1, w->out_c);
  const cmsis_nn_dims output = memopt_cmsis_nn_dims(1, w->out_h, w->out_w, w->out_c);
  const cmsis_nn_context context = memopt_cmsis_nn_room(scratch, w->scratch_bytes);
  const cmsis_nn_per_channel_quant_params quantization = memopt_cmsis_nn_channels(f);
  cmsis_nn_dw_conv_params how;
  how.input_offset = -f->input_zero_point;
  how.output_offset = f->output_zero_point;
  how.ch_mult = w->out_c / w->in_c;
  how.stride = memopt_cmsis_nn_tile(w->stride_h, w->stride_w);
  how.padding = memopt_cmsis_nn_tile(w->pad_top, w->pad_left);
  how.dilation = memopt_cmsis_nn_tile(w->dilation_h, w->dilation_w);
  how.activation = memopt_cmsis_nn_range(w->act_min, w->act_max);
  return arm_depthwise_conv_wrapper_s8_get_buffer_size(&how, &input, &filter, &output) <=
             w->scratch_bytes &&
         arm_depthwise_conv_wrapper_s8(&context, &how, &quantization, &input, in, &filter,
                                       f->weights, &bias, f->bias, &output,
                                       out) == ARM_CMSIS_NN_SUCCESS;
}
#endif

KERNEL {
#ifdef MEMOPT_CMSIS_NN
  if (cmsis_depthwise_conv_2d_s8(p, in[0], out, scratch)) {
    return;
  }
#endif
  p->kernel(p->params, rows, in, out, scratch);
}
