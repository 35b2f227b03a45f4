/* ADD and SUB, int8: what is done to an operand before they are added is a table of its 256 values,
 * twice what memopt_add_s8 makes of them. The sum is requantised and fused with the zero point,
 * which equals the two roundings of memopt_add_s8, see memopt_packed_s8.h.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t row_n;
  int32_t multiplier, shift, base; /* shift to the right - 1; (2 * zero point + 1) * 2^shift */
  int32_t act_min, act_max, full;  /* full: the ends are those of int8 */
  const int32_t *a, *b;            /* of the bytes 0 to 127, -128 to -1 */
  int32_t a_step, b_step;          /* 1, or 0 where one element serves the whole row */
  int32_t a_row_step, b_row_step; /* 1; 0: one row serves all; -1: an element serves each */
} memopt_table_sum_s8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_table_sum_s8(const void *params, const memopt_rows *rows,
                                       const void *const *in, void *out, void *scratch) {
  const memopt_table_sum_s8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *a = memopt_in_row(rows, in, 0, p->a_row_step > 0 ? row : rows->in_first);
    const uint8_t *b = memopt_in_row(rows, in, 1, p->b_row_step > 0 ? row : rows->in_first);
    int8_t *output = memopt_out_row(rows, out, row);
    int8_t *const end = output + p->row_n;
    const int32_t *const of_a = p->a;
    const int32_t *const of_b = p->b;
    const int32_t multiplier = p->multiplier;
    const int32_t base = p->base;
    const int32_t shift = p->shift;
    const int32_t a_step = p->a_step;
    const int32_t b_step = p->b_step;
    a += p->a_row_step < 0 ? row - rows->in_first : 0;
    b += p->b_row_step < 0 ? row - rows->in_first : 0;
    while (output != end) {
      *output++ = (int8_t)memopt_fused(of_a[*a] + of_b[*b], multiplier, base, shift);
      a += a_step;
      b += b_step;
    }
    if (!p->full) {
      memopt_clamp_s8(end - p->row_n, p->row_n, p->act_min, p->act_max);
    }
  }
}
