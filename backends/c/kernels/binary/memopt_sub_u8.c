/* SUB, uint8: as memopt_add_s8.c, but for the sign of the right operand, which is scaled and rounded
 * before (TensorFlow Lite, reference/sub.h: SubElementwise). */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier, output_multiplier;
  int32_t a_shift, b_shift, output_shift; /* never positive */
  int32_t act_min, act_max;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_sub_u8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_sub_u8(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_sub_u8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *a = memopt_in_row(rows, in, 0, p->a_row_step ? row : rows->in_first);
    const uint8_t *b = memopt_in_row(rows, in, 1, p->b_row_step ? row : rows->in_first);
    uint8_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int32_t av = memopt_shift_left(*a - p->a_zero_point, p->left_shift);
      const int32_t bv = memopt_shift_left(*b - p->b_zero_point, p->left_shift);
      const int32_t difference =
          memopt_round_shift(memopt_high_mul_30(av, p->a_multiplier), -p->a_shift) -
          memopt_round_shift(memopt_high_mul_30(bv, p->b_multiplier), -p->b_shift);
      const int32_t value =
          memopt_round_shift(memopt_high_mul_30(difference, p->output_multiplier),
                             -p->output_shift) +
          p->output_zero_point;
      output[i] = (uint8_t)memopt_clamp(value, p->act_min, p->act_max);
      a += p->a_step;
      b += p->b_step;
    }
  }
}
