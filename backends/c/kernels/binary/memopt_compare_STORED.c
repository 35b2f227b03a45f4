/* STORED  TYPE
 * s8      int8_t
 * u8      uint8_t
 */
/* EQUAL, LESS and the other comparisons of STORED: both are brought to a common scale. */
#include "memopt_compare.h"

typedef struct {
  int32_t row_n;
  int32_t left_shift;
  int32_t a_zero_point, b_zero_point;
  int32_t a_multiplier, b_multiplier;
  int32_t a_shift, b_shift; /* never positive */
  int32_t relation; /* see memopt_compare.h */
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_compare_STORED_params;

KERNEL(scratch) {
  MEMOPT_BINARY_TO(TYPE, uint8_t, p,
                   MEMOPT_COMPARED(p, MEMOPT_SCALED(p, a, x), MEMOPT_SCALED(p, b, y)));
}
