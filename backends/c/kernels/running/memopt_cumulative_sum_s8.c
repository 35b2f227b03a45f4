/* CUMSUM, int8, of up to 15 numbers: [rows][count][inner], along the second. */
#include "memopt_fine_sum.h"

typedef struct {
  int32_t count, inner;
  int32_t exclusive; /* without the element itself */
  int32_t reverse;   /* from the other end */
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* of 2^19 times the sum, to the right */
} memopt_cumulative_sum_s8_params;

MEMOPT_KERNEL void memopt_cumulative_sum_s8(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_cumulative_sum_s8_params *p = params;
  const int32_t first = p->reverse ? (p->count - 1) * p->inner : 0;
  const int32_t step = p->reverse ? -p->inner : p->inner;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = memopt_in_row(rows, in, 0, row);
    int8_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      int32_t total = -p->input_zero_point; /* the stored 0 */
      int32_t at = first + i;
      int32_t n;
      for (n = 0; n < p->count; ++n) {
        const int32_t x = input[at] - p->input_zero_point;
        if (p->exclusive) {
          output[at] = (int8_t)MEMOPT_FINE_SUM(p, total);
        }
        total += x;
        if (!p->exclusive) {
          output[at] = (int8_t)MEMOPT_FINE_SUM(p, total);
        }
        at += step;
      }
    }
  }
}
