/* ADD, int8, of two tensors of one shape: CMSIS-NN's arm_elementwise_add_s8. */
#include "memopt_cmsis_nn.h"

typedef struct {
  memopt_kernel *kernel;
  const void *params;
  int32_t size;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier, output_multiplier;
  int32_t a_shift, b_shift, output_shift; /* never positive */
  int32_t act_min, act_max;
} memopt_cmsis_add_s8_params;

KERNEL {
#ifdef MEMOPT_CMSIS_NN
  if (arm_elementwise_add_s8(in[0], in[1], -p->a_zero_point, p->a_multiplier, p->a_shift,
                             -p->b_zero_point, p->b_multiplier, p->b_shift, p->left_shift, out,
                             p->output_zero_point, p->output_multiplier, p->output_shift,
                             p->act_min, p->act_max, p->size) == ARM_CMSIS_NN_SUCCESS) {
    return;
  }
#endif
  p->kernel(p->params, rows, in, out, scratch);
}
