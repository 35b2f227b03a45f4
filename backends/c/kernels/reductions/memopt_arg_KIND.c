/* KIND  TYPE
 * f32   float
 * i32   int32_t
 * s8    int8_t
 * u8    uint8_t
 */
/* ARG_MAX and ARG_MIN of KIND: the first of equal numbers. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
  int32_t least; /* the smallest number, not the largest */
  int32_t wide;  /* indices of int64 */
} memopt_arg_KIND_params;

KERNEL(scratch) {
  MEMOPT_ARG(TYPE, p);
}
