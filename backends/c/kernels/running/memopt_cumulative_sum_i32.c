/* CUMSUM, int32, which wraps: [rows][count][inner], along the second. */
#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
  int32_t exclusive; /* without the element itself */
  int32_t reverse;   /* from the other end */
} memopt_cumulative_sum_i32_params;

MEMOPT_KERNEL void memopt_cumulative_sum_i32(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_cumulative_sum_i32_params *p = params;
  const int32_t first = p->reverse ? (p->count - 1) * p->inner : 0;
  const int32_t step = p->reverse ? -p->inner : p->inner;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t *input = memopt_in_row(rows, in, 0, row);
    int32_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      uint32_t total = 0;
      int32_t at = first + i;
      int32_t n;
      for (n = 0; n < p->count; ++n) {
        const int32_t x = input[at];
        if (p->exclusive) {
          output[at] = (int32_t)total;
        }
        total += (uint32_t)x;
        if (!p->exclusive) {
          output[at] = (int32_t)total;
        }
        at += step;
      }
    }
  }
}
