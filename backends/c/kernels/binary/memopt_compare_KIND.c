/* KIND      TYPE
 * f32       float
 * i32       int32_t
 * i64       int64_t
 * s16       int16_t
 * bool      uint8_t
 * plain_s8  int8_t
 */
/* EQUAL, LESS and the other comparisons of KIND; plain_s8: int8 that stand for themselves. */
#include "memopt_compare.h"

typedef struct {
  int32_t row_n;
  int32_t relation; /* see memopt_compare.h */
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_compare_KIND_params;

KERNEL(scratch) {
  MEMOPT_BINARY_TO(TYPE, uint8_t, p, MEMOPT_COMPARED(p, x, y));
}
