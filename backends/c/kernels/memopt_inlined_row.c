/* A row of an operator that reads virtual rows: tensors joined or cut, a function that
 * the reader makes. The rows under its window are made in scratch, one behind the other, then the
 * reader's own kernel computes its row of them.
 */
#include "memopt_inlined.h"

typedef struct {
  const memopt_inlined_row_step *steps; /* makers of a row in their order, then the reader */
  int32_t makers;
} memopt_inlined_row_params;

static void inlined_row_run(const memopt_inlined_row_step *s, const memopt_rows *rows,
                           const void *const *in, int32_t count, const void *scratch,
                           void *out) {
  const uint8_t *const made = (const uint8_t *)scratch;
  const void *at[MEMOPT_INLINED_OPERANDS];
  int32_t i;
  for (i = 0; i < s->operands; ++i) {
    at[i] = s->from[i] >= 0 ? made + s->from[i] : in[(-1 - s->from[i]) * count];
  }
  s->kernel(s->params, rows, at, out, 0);
}

KERNEL {
  memopt_rows made = *rows;
  int32_t r, i;
  for (r = 0; r < rows->in_count; ++r) {
    for (i = 0; i < p->makers; ++i) {
      const memopt_inlined_row_step *const s = p->steps + i;
      const memopt_rows one = {0, s->rows, s->out_stride, 0, 1, s->in_stride};
      inlined_row_run(s, &one, in + r, rows->in_count, scratch,
                     (uint8_t *)scratch + s->to + r * s->advance);
    }
  }
  made.in_count = 1; /* they lie one behind the other */
  inlined_row_run(p->steps + p->makers, &made, in, rows->in_count, scratch, out);
}
