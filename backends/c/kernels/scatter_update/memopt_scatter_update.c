/* ScatterND, bytes of elements of any type. */
#include "memopt_scatter_update.h"

typedef struct {
  int32_t size;  /* bytes of the result */
  int32_t count; /* places */
  int32_t depth; /* indices of each */
  int32_t piece; /* bytes of each */
  int32_t form;  /* of indices */
  int32_t limit[8], step[8];
} memopt_scatter_update_params;

KERNEL(rows, scratch) {
  MEMOPT_SCATTER_UPDATE(uint8_t, p, ((void)x, y));
}
