/* A row of an operation of two tensors, one of which is made by a convolution as it is read. Some
 * columns of it at a time are made in scratch, then the operation's own kernel computes these: so
 * the result may take the place of the other tensor's row.
 */
#include "memopt_inlined.h"

typedef struct {
  memopt_kernel *maker, *reader;
  const memopt_epilogue_part *parts;
  int32_t count;
  int32_t made; /* which of the reader's operands it is */
} memopt_epilogue_row_params;

KERNEL {
  const uint8_t *const other =
      (const uint8_t *)in[rows->in_count]; /* behind the rows under the window */
  int32_t i;
  for (i = 0; i < p->count; ++i) {
    const memopt_epilogue_part *const part = p->parts + i;
    const memopt_rows one = {0, part->rows, part->out_stride, 0, 1, part->in_stride};
    const void *at[2];
    at[p->made] = scratch;
    at[1 - p->made] = other + part->read_at;
    p->maker(part->maker, rows, in, scratch, 0);
    p->reader(part->reader, &one, at, (uint8_t *)out + part->out_at, 0);
  }
}
