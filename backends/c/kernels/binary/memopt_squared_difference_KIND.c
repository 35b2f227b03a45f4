/* KIND  TYPE     LEAST   MOST
 * s8    int8_t   -128    127
 * s16   int16_t  -32768  32767
 */
/* SQUARED_DIFFERENCE of KIND: the common scale of s8 has 7 more bits. */
#include "memopt_squared_difference.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point, output_zero_point;
  int32_t a_multiplier, b_multiplier;
  int32_t a_shift, b_shift;         /* never positive */
  int32_t multiplier, shift;        /* of the square; as memopt_requantize takes them */
  int32_t a_step, b_step;           /* see memopt_binary.h */
  int32_t a_row_step, b_row_step;   /* see memopt_binary.h */
} memopt_squared_difference_KIND_params;

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, memopt_clamp(MEMOPT_STORED_SQUARE(p, x, y), LEAST, MOST));
}
