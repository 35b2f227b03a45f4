/* FULLY_CONNECTED, int8, one multiplier: CMSIS-NN's arm_fully_connected_s8. */
#include "memopt_cmsis_nn.h"

typedef struct {
  memopt_kernel *kernel;
  const void *params;
  int32_t vectors, in_n, out_n;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t multiplier, shift; /* to the left */
  const int8_t *weights;     /* [out_n][in_n] */
  const int32_t *bias;       /* [out_n], nothing folded into it */
} memopt_cmsis_fully_connected_s8_params;

#ifdef MEMOPT_CMSIS_NN
/* Whether CMSIS-NN has computed it: without scratch, so not where it wants sums of the weights. */
static int32_t cmsis_fully_connected_s8(const memopt_cmsis_fully_connected_s8_params *p,
                                        const void *in, void *out) {
  const cmsis_nn_dims input = memopt_cmsis_nn_dims(p->vectors, 1, 1, p->in_n);
  const cmsis_nn_dims filter = memopt_cmsis_nn_dims(p->in_n, 1, 1, p->out_n);
  const cmsis_nn_dims bias = memopt_cmsis_nn_dims(1, 1, 1, p->out_n);
  const cmsis_nn_dims output = memopt_cmsis_nn_dims(p->vectors, 1, 1, p->out_n);
  const cmsis_nn_context context = memopt_cmsis_nn_room(0, 0);
  cmsis_nn_per_tensor_quant_params quantization;
  cmsis_nn_fc_params how;
  how.input_offset = -p->input_zero_point;
  how.filter_offset = 0;
  how.output_offset = p->output_zero_point;
  how.activation = memopt_cmsis_nn_range(p->act_min, p->act_max);
  quantization.multiplier = p->multiplier;
  quantization.shift = p->shift;
  return arm_fully_connected_s8_get_buffer_size(&filter) <= 0 &&
         arm_fully_connected_s8(&context, &how, &quantization, &input, in, &filter, p->weights,
                                &bias, p->bias, &output, out) == ARM_CMSIS_NN_SUCCESS;
}
#endif

KERNEL {
#ifdef MEMOPT_CMSIS_NN
  if (cmsis_fully_connected_s8(p, in[0], out)) {
    return;
  }
#endif
  p->kernel(p->params, rows, in, out, scratch);
}
