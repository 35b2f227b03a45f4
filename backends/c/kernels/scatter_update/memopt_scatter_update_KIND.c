/* KIND  TYPE     ADDED
 * f32   float    float
 * i32   int32_t  uint32_t
 * i64   int64_t  uint64_t
 */
/* ScatterND with a reduction of KIND, integers wrap. */
#include "memopt_scatter_update.h"

typedef struct {
  int32_t size;  /* elements of the result */
  int32_t count; /* places */
  int32_t depth; /* indices of each */
  int32_t piece; /* elements of each */
  int32_t form;  /* of indices */
  int32_t limit[8], step[8];
  int32_t reduction;
} memopt_scatter_update_KIND_params;

KERNEL(rows, scratch) {
  MEMOPT_SCATTER_UPDATE(TYPE, p, MEMOPT_REDUCED(ADDED, p, x, y));
}
