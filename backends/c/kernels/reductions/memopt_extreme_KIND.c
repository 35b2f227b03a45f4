/* KIND  TYPE
 * f32   float
 * i32   int32_t
 * s8    int8_t
 * s16   int16_t
 * u8    uint8_t
 */
/* REDUCE_MAX and REDUCE_MIN of KIND. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
  int32_t least; /* the smallest number, not the largest */
} memopt_extreme_KIND_params;

KERNEL(scratch) {
  MEMOPT_REDUCE(TYPE, TYPE, p, *at, so_far =
      (p->least ? x < so_far : x > so_far) ? x : so_far,
                so_far);
}
