/* ADD and SUB, int8: what is done to an operand before they are added is a table of its 256 values,
 * twice what memopt_add_s8 makes of them. The sum is requantised and fused with the zero point,
 * which equals the two roundings of memopt_add_s8, see memopt_packed_s8.h.
 */
#include "memopt_common.h"
#include "memopt_mve_s8.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t row_n;
  int32_t multiplier, shift, base; /* shift to the right - 1; (2 * zero point + 1) * 2^shift */
  int32_t act_min, act_max, full;  /* full: the ends are those of int8 */
  const int32_t *a, *b;            /* of the bytes 0 to 127, -128 to -1 */
  int32_t a_step, b_step;          /* 1, or 0 where one element serves the whole row */
  int32_t a_row_step, b_row_step; /* 1; 0: one row serves all; -1: an element serves each */
} memopt_table_sum_s8_params;

static inline int8_t table_sum_of(const memopt_table_sum_s8_params *p, uint8_t a, uint8_t b) {
  return (int8_t)memopt_fused(p->a[a] + p->b[b], p->multiplier, p->base, p->shift);
}

/* `output` may be `a` or `b`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *a = (const uint8_t *)memopt_in_row(
        rows, in, 0, p->a_row_step > 0 ? row : rows->in_first);
    const uint8_t *b = (const uint8_t *)memopt_in_row(
        rows, in, 1, p->b_row_step > 0 ? row : rows->in_first);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    int8_t *const end = output + p->row_n;
    const memopt_table_sum_s8_params local = *p; /* no store can change it */
    a += p->a_row_step < 0 ? row - rows->in_first : 0;
    b += p->b_row_step < 0 ? row - rows->in_first : 0;
    if (local.a_step == 1 && local.b_step == 1) {
#if MEMOPT_MVE
      memopt_sum_tables_mve(a, local.a, b, local.b, vdupq_n_s32(local.multiplier), local.base,
                            local.shift, local.row_n, vdupq_n_s32(local.act_min),
                            vdupq_n_s32(local.act_max), output);
      continue;
#else
      for (; end - output >= 4; output += 4) {
        output[0] = table_sum_of(&local, a[0], b[0]);
        output[1] = table_sum_of(&local, a[1], b[1]);
        output[2] = table_sum_of(&local, a[2], b[2]);
        output[3] = table_sum_of(&local, a[3], b[3]);
        a += 4;
        b += 4;
      }
#endif
    }
    while (output != end) {
      *output++ = table_sum_of(&local, *a, *b);
      a += local.a_step;
      b += local.b_step;
    }
    if (!p->full) {
      memopt_clamp_s8(end - p->row_n, p->row_n, p->act_min, p->act_max);
    }
  }
}
