/* FULLY_CONNECTED, int8, weights packed for four channels, see memopt_packed_s8.h. A row is one
 * sample, which is widened into a column in scratch.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t in_n, out_n;
  memopt_packed packed; /* half its column is the scratch */
} memopt_fully_connected_packed_s8_params;

MEMOPT_KERNEL void memopt_fully_connected_packed_s8(const void *params, const memopt_rows *rows,
                                                    const void *const *in, void *out,
                                                    void *scratch) {
  const memopt_fully_connected_packed_s8_params *p = params;
  const int32_t whole = p->in_n / 4 * 4;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *const input = memopt_in_row(rows, in, 0, row);
    int8_t *const output = memopt_out_row(rows, out, row);
    uint32_t *const end = memopt_widen_1(scratch, 1, input, whole);
    if (whole < p->in_n) {
      int8_t last[4] = {0, 0, 0, 0};
      memcpy(last, input + whole, (size_t)(p->in_n - whole));
      memopt_widen_1(end, 1, last, 4);
    }
    memopt_pixels(&p->packed, scratch, p->out_n, output, 0);
    if (!p->packed.full) {
      memopt_clamp_s8(output, p->out_n, p->packed.act_min, p->packed.act_max);
    }
  }
}
