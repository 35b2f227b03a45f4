/* FULLY_CONNECTED, int8, as memopt_fully_connected_packed_s8, of weights that have a zero point: behind a
 * sample stand its sums, which are taken that often off.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

#define MEMOPT_SUMMED 252 /* taps whose sum, of any sign, is an int16; a multiple of 4 */

typedef struct {
  int32_t in_n, out_n;
  memopt_packed packed; /* half its column is the scratch */
} memopt_fully_connected_packed_offset_s8_params;

/* The words from `at` to `to`, two taps each, summed up behind them, of the other sign; then zeros up to
 * `end`. */
static void fully_connected_minus_sums(const uint32_t *at, uint32_t *to, const uint32_t *end) {
  const uint32_t *const last = to;
  while (at != last) {
    const uint32_t *const stop = last - at > MEMOPT_SUMMED / 2 ? at + MEMOPT_SUMMED / 2 : last;
    int32_t sum = 0;
    for (; at != stop; at += 2) {
      sum = memopt_smlad(at[0], 0xffffffffu, sum);
      sum = memopt_smlad(at[1], 0xffffffffu, sum);
    }
    *to++ = (uint32_t)sum & 0xffffu;
  }
  while (to != end) {
    *to++ = 0;
  }
}

KERNEL {
  uint32_t *const column = (uint32_t *)scratch;
  uint32_t *const sums = column + (p->in_n + 3) / 4 * 2;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int8_t *const output = (int8_t *)memopt_out_row(rows, out, row);
    memopt_widen_sample(column, (const int8_t *)memopt_in_row(rows, in, 0, row), p->in_n);
    fully_connected_minus_sums(column, sums, column + p->packed.taps / 2);
    memopt_pixels(&p->packed, column, p->out_n, output, 0);
    if (!p->packed.full) {
      memopt_clamp_s8(output, p->out_n, p->packed.act_min, p->packed.act_max);
    }
  }
}
