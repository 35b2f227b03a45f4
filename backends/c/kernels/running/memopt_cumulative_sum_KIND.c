/* KIND  TYPE     ADDED     ZERO  VALUE
 * f32   float    float     0.0f  x
 * i32   int32_t  uint32_t  0u    (uint32_t)x
 * i64   int64_t  uint64_t  0u    (uint64_t)x
 */
/* CUMSUM of KIND, integers wrap: [rows][count][inner], along the second. */
#include "memopt_cumulative_sum.h"

typedef struct {
  int32_t count, inner;
  int32_t exclusive; /* without the element itself */
  int32_t reverse;   /* from the other end */
} memopt_cumulative_sum_KIND_params;

KERNEL {
  MEMOPT_CUMULATIVE_SUM(TYPE, ADDED, ZERO, p, VALUE, total);
}
