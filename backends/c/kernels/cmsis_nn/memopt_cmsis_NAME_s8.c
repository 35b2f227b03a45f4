/* NAME             LIBRARY          BYTES
 * average_pool_2d  arm_avgpool_s8   arm_avgpool_s8_get_buffer_size(w->out_w, w->in_c)
 * max_pool_2d      arm_max_pool_s8  0
 */
/* A whole NAME of int8: CMSIS-NN's LIBRARY. */
#include "memopt_cmsis_nn.h"

typedef struct {
  memopt_kernel *kernel;
  const void *params;
  memopt_cmsis_nn_window window;
} memopt_cmsis_NAME_s8_params;

#ifdef MEMOPT_CMSIS_NN
/* Whether CMSIS-NN has computed it. */
static int32_t cmsis_NAME_s8(const memopt_cmsis_nn_window *w, const void *in, void *out,
                                        void *scratch) {
  const cmsis_nn_dims input = memopt_cmsis_nn_dims(1, w->in_h, w->in_w, w->in_c);
  const cmsis_nn_dims filter = memopt_cmsis_nn_dims(1, w->k_h, w->k_w, 1);
  const cmsis_nn_dims output = memopt_cmsis_nn_dims(1, w->out_h, w->out_w, w->out_c);
  const cmsis_nn_context context = memopt_cmsis_nn_room(scratch, w->scratch_bytes);
  const cmsis_nn_pool_params how = memopt_cmsis_nn_pool(w);
  return BYTES <= w->scratch_bytes &&
         LIBRARY(&context, &how, &input, in, &filter, &output, out) == ARM_CMSIS_NN_SUCCESS;
}
#endif

KERNEL {
#ifdef MEMOPT_CMSIS_NN
  if (cmsis_NAME_s8(&p->window, in[0], out, scratch)) {
    return;
  }
#endif
  p->kernel(p->params, rows, in, out, scratch);
}
