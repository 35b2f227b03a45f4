/* CONV_2D, int8, NHWC, of 1x1 windows where a row is one pixel, weights packed for two pixels times four
 * channels, see memopt_packed_s8.h. Two rows go at a time, wherever they lie.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t in_c, out_c;  /* in_c: a multiple of 4 */
  memopt_packed packed; /* scratch: its column */
} memopt_conv_2d_points_packed_s8_params;

KERNEL {
  const memopt_packed *const packed = &p->packed;
  const uint32_t *const w = packed->stream;
  const uint32_t blocks = (uint32_t)p->out_c / MEMOPT_BLOCK;
  const uint32_t *const w_end = w + blocks * (uint32_t)memopt_block_words(packed);
  const int32_t fused = packed->kinds == 0 && (p->out_c & (MEMOPT_BLOCK - 1)) == 0;
  uint32_t *const column = (uint32_t *)scratch;
  const int8_t *from;
  memopt_windows of;
  int32_t oy;
  of.rows = &from;
  of.from = of.rest = of.taps = 0;
  of.words = p->in_c;
  of.count = 1;
  of.bytes = 0;
  of.zero = 0;
  for (oy = rows->out_begin; oy < rows->out_end; oy += 2) {
    int8_t *const to = (int8_t *)memopt_out_row(rows, out, oy);
    int8_t *const next = oy + 1 < rows->out_end ? to + rows->out_stride : 0;
    from = (const int8_t *)memopt_in_row(rows, in, 0, oy);
    if (next) {
      of.apart = (int32_t)((const int8_t *)memopt_in_row(rows, in, 0, oy + 1) - from);
      memopt_widen_windows(column, &of);
    } else {
      memopt_widen_1(column, 1, from, p->in_c);
    }
    if (fused) {
      memopt_blocks(packed, MEMOPT_FUSED, column, w, w_end, to, next);
    } else {
      memopt_pixels(packed, column, p->out_c, to, next);
    }
    if (!packed->full) {
      memopt_clamp_s8(to, p->out_c, packed->act_min, packed->act_max);
      memopt_clamp_s8(next, next ? p->out_c : 0, packed->act_min, packed->act_max);
    }
  }
}
