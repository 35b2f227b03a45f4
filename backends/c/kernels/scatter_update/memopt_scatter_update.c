/* ScatterND, bytes of elements of any type. */
#include "memopt_scatter_update.h"

typedef struct {
  int32_t size;  /* bytes of the result */
  int32_t count; /* places */
  int32_t depth; /* indices of each */
  int32_t piece; /* bytes of each */
  int32_t wide;  /* indices of int64 */
  int32_t limit[8], step[8];
} memopt_scatter_update_params;

MEMOPT_KERNEL void memopt_scatter_update(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_scatter_update_params *p = (const memopt_scatter_update_params *)params;
  (void)rows;
  (void)scratch;
  MEMOPT_SCATTER_UPDATE(uint8_t, p, ((void)x, y));
}
