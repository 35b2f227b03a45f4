/* An operator whose kernel reads elements in another order than they lie in: they are taken in that
 * order into scratch, then the kernel computes all rows of what is there.
 */
#include "memopt_common.h"

typedef struct {
  memopt_kernel *taker, *kernel;
  const void *walk, *params; /* of these */
  int32_t count;             /* rows */
  int32_t in_stride, out_stride;
} memopt_regrouped_params;

KERNEL {
  const memopt_rows all = {0, p->count, p->out_stride, 0, 1, p->in_stride};
  const void *taken[1];
  taken[0] = scratch;
  p->taker(p->walk, rows, in, scratch, 0);
  p->kernel(p->params, &all, taken, out, 0);
}
