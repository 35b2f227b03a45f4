/* SOFTMAX over the last axis, int8: CMSIS-NN's arm_softmax_s8, which never refuses. */
#include "memopt_cmsis_nn.h"

typedef struct {
  memopt_kernel *kernel;
  const void *params;
  int32_t vectors, depth;
  int32_t multiplier, shift; /* of what an element is below the largest, to Q5.26 */
  int32_t least;             /* what lies lower counts as nothing */
} memopt_cmsis_softmax_s8_params;

KERNEL {
#ifdef MEMOPT_CMSIS_NN
  (void)rows;
  (void)scratch;
  arm_softmax_s8(in[0], p->vectors, p->depth, p->multiplier, p->shift, p->least, out);
#else
  p->kernel(p->params, rows, in, out, scratch);
#endif
}
