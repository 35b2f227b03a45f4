/* NAME  KIND  TYPE     FIRST  NEXT
 * sum   f32   float    0.0f   so_far += x
 * sum   i32   int32_t  0      so_far = (int32_t)((uint32_t)so_far + (uint32_t)x)
 * prod  f32   float    1.0f   so_far *= x
 * prod  i32   int32_t  1      so_far = (int32_t)((uint32_t)so_far * (uint32_t)x)
 */
/* The NAME of KIND along an axis; integers wrap. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
} memopt_reduce_NAME_KIND_params;

KERNEL(scratch) {
  MEMOPT_REDUCE(TYPE, TYPE, p, FIRST, NEXT, so_far);
}
