/* KIND  TYPE     VALUE
 * f32   float    x + y
 * i32   int32_t  (int32_t)((uint32_t)x + (uint32_t)y)
 */
/* SCATTER_ND of KIND, integers wrap. */
#include "memopt_scatter_nd.h"

typedef struct {
  int32_t size;  /* elements of the result */
  int32_t count; /* places */
  int32_t depth; /* indices of each */
  int32_t piece; /* elements of each */
  int32_t form;  /* of indices */
  int32_t limit[8], step[8];
} memopt_scatter_nd_KIND_params;

KERNEL(rows, scratch) {
  MEMOPT_SCATTER_ND(TYPE, p, VALUE);
}
