/* SIGNED  KIND  TYPE     SIGN
 * add     s8    int8_t   +
 * add     u8    uint8_t  +
 * add     s16   int16_t  +
 * sub     s8    int8_t   -
 * sub     u8    uint8_t  -
 * sub     s16   int16_t  -
 */
/* SIGNED of KIND: both operands are brought to a common scale with more bits, added and rounded
 * back (TensorFlow Lite, reference/integer_ops/add.h, reference/sub.h). */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier, output_multiplier;
  int32_t a_shift, b_shift, output_shift; /* never positive */
  int32_t act_min, act_max;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_SIGNED_KIND_params;

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, MEMOPT_STORED_SUM(p, MEMOPT_SCALED(p, a, x) SIGN MEMOPT_SCALED(p, b, y)));
}
