/* An operator that reads virtual tensors: tensors joined or cut, a function or sums of products
 * that the reader makes. Rows of it are made in scratch, each once, as the window of the reader
 * comes to them; then the reader's own kernel computes the rows that it can.
 */
#include "memopt_inlined.h"

#include <string.h>

typedef struct {
  const memopt_inlined_step *steps; /* makers of a row in their order, then the reader */
  int32_t makers;
  int32_t rows;               /* that can be made */
  int32_t calls;              /* of the reader */
  int32_t step, before, size; /* call r reads rows r * step - before and the `size` from there on */
  int32_t row_bytes;          /* of the window, which lies at the beginning of scratch */
} memopt_inlined_params;

/* Row `row`; what is inlined begins at row `first`. */
static void inlined_run(const memopt_inlined_step *s, int32_t row, int32_t first,
                        const void *const *in, const uint8_t *scratch, void *out) {
  const void *at[MEMOPT_INLINED_OPERANDS];
  memopt_rows rows;
  int32_t inside = 0;
  int32_t i;
  for (i = 0; i < s->operands; ++i) {
    inside |= s->from[i] >= 0;
  }
  rows.out_begin = row * s->per_row;
  rows.out_end = rows.out_begin + s->per_row;
  rows.out_stride = s->out_stride;
  rows.in_first = inside ? first * s->per_row : 0;
  rows.in_count = 1;
  rows.in_stride = s->in_stride;
  for (i = 0; i < s->operands; ++i) {
    const uint8_t *const whole = (const uint8_t *)in[s->in_at + i];
    if (s->from[i] >= 0) {
      at[i] = scratch + s->from[i];
    } else {
      at[i] = whole + rows.in_first * (-1 - s->from[i]);
    }
  }
  s->kernel(s->params, &rows, at, out, 0);
}

KERNEL {
  const memopt_inlined_step *const reader = p->steps + p->makers;
  uint8_t *const window = (uint8_t *)scratch;
  int32_t first = 0; /* the window has rows [first, end) */
  int32_t end = 0;
  int32_t call;
  (void)rows;
  for (call = 0; call < p->calls; ++call) {
    const int32_t begin = call * p->step - p->before;
    const int32_t low = begin > 0 ? begin : 0;
    const int32_t high = begin + p->size < p->rows ? begin + p->size : p->rows;
    if (low > first) {
      if (end > low) {
        memmove(window, window + (low - first) * p->row_bytes,
                (size_t)((end - low) * p->row_bytes));
      } else {
        end = low;
      }
      first = low;
    }
    for (; end < high; ++end) {
      int32_t i;
      for (i = 0; i < p->makers; ++i) {
        const memopt_inlined_step *const s = p->steps + i;
        inlined_run(s, end, end, in, window, window + s->to + (end - first) * s->advance);
      }
    }
    inlined_run(reader, call, first, in, window,
               (uint8_t *)out + call * reader->per_row * reader->out_stride);
  }
}
