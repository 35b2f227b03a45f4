/* FULLY_CONNECTED, int8, weights packed for four channels, see memopt_narrow_s8.h. A row is one
 * sample, read where it lies.
 */
#include "memopt_common.h"
#include "memopt_narrow_s8.h"

typedef struct {
  int32_t in_n, out_n; /* in_n: a multiple of 4 */
  memopt_packed packed;
} memopt_fully_connected_narrow_s8_params;

KERNEL {
  memopt_run runs[2];
  int32_t row;
  (void)scratch;
  runs[1].begin = 0;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int8_t *const output = (int8_t *)memopt_out_row(rows, out, row);
    runs[0].begin = (const int8_t *)memopt_in_row(rows, in, 0, row);
    runs[0].end = runs[0].begin + p->in_n;
    memopt_narrow_pixels(&p->packed, runs, 0, p->out_n, output, 0);
    if (!p->packed.full) {
      memopt_clamp_s8(output, p->out_n, p->packed.act_min, p->packed.act_max);
    }
  }
}
