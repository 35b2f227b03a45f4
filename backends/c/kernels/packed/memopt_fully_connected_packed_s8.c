/* FULLY_CONNECTED, int8, weights packed for four channels, see memopt_packed_s8.h. A row is one
 * sample, which is widened into a column in scratch.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t in_n, out_n;
  memopt_packed packed; /* half its column is the scratch */
} memopt_fully_connected_packed_s8_params;

MEMOPT_SMALL
KERNEL {
  uint32_t *const column = (uint32_t *)scratch;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int8_t *const output = (int8_t *)memopt_out_row(rows, out, row);
    memopt_widen_sample(column, (const int8_t *)memopt_in_row(rows, in, 0, row), p->in_n);
    memopt_pixels(&p->packed, column, p->out_n, output, 0);
    if (!p->packed.full) {
      memopt_clamp_s8(output, p->out_n, p->packed.act_min, p->packed.act_max);
    }
  }
}
