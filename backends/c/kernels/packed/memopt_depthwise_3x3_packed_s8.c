/* DEPTHWISE_CONV_2D, int8, NHWC, 3x3 with a stride of 1 or 2 along rows and a multiple of four
 * channels: the columns of a row are packed in scratch, four channels at a time, and the window
 * slides over them, see memopt_columns_3x3_s8.h.
 */
#include "memopt_common.h"
#include "memopt_columns_3x3_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, stride_h, stride_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point;
  memopt_packed packed; /* stream and kinds of each channel */
} memopt_depthwise_3x3_packed_s8_params;

/* The words of two columns of a row, `c` bytes apart, those that are there. */
static inline void depthwise_3x3_words(const int8_t *row, int32_t at, int32_t c, int32_t has_first,
                                       int32_t has_second, uint32_t *first, uint32_t *second) {
  if (row == 0) {
    return;
  }
  row += at;
  if (has_first) {
    *first = memopt_word(row);
  }
  if (has_second) {
    *second = memopt_word(row + c);
  }
}

/* Two columns of which some are not there, or some of the rows are null. */
static MEMOPT_NOINLINE void depthwise_3x3_border(const memopt_depthwise_3x3_packed_s8_params *p,
                                                 const int8_t *const row[3], int32_t x,
                                                 int32_t channel, uint32_t *to, int32_t per) {
  const uint32_t zero = 0x01010101u * (uint8_t)p->input_zero_point;
  const int32_t c = p->in_c;
  const int32_t has_first = x >= 0 && x < p->in_w;
  const int32_t has_second = x + 1 >= 0 && x + 1 < p->in_w;
  const int32_t at = x * c + channel;
  uint32_t a[3], b[3];
  a[0] = a[1] = a[2] = b[0] = b[1] = b[2] = zero;
  depthwise_3x3_words(row[0], at, c, has_first, has_second, &a[0], &b[0]);
  depthwise_3x3_words(row[1], at, c, has_first, has_second, &a[1], &b[1]);
  depthwise_3x3_words(row[2], at, c, has_first, has_second, &a[2], &b[2]);
  memopt_pack_columns(to, per, a, b);
}

/* `columns` times two columns of four channels. */
static void depthwise_3x3_pack(const memopt_depthwise_3x3_packed_s8_params *p,
                               const int8_t *const row[3], int32_t channel, int32_t columns,
                               uint32_t *to) {
  const int32_t c = p->in_c;
  const int32_t whole = row[0] != 0 && row[1] != 0 && row[2] != 0;
  int32_t x = -p->pad_left;
  int32_t i;
  for (i = 0; i < columns; ++i) {
    if (whole && x >= 0 && x + 1 < p->in_w) {
      const int32_t at = x * c + channel;
      const int8_t *const r0 = row[0] + at;
      const int8_t *const r1 = row[1] + at;
      const int8_t *const r2 = row[2] + at;
      uint32_t a[3], b[3];
      a[0] = memopt_word(r0);
      b[0] = memopt_word(r0 + c);
      a[1] = memopt_word(r1);
      b[1] = memopt_word(r1 + c);
      a[2] = memopt_word(r2);
      b[2] = memopt_word(r2 + c);
      memopt_pack_columns(to, 3 * columns, a, b);
    } else {
      depthwise_3x3_border(p, row, x, channel, to, 3 * columns);
    }
    to += 3;
    x += 2;
  }
}

MEMOPT_KERNEL void memopt_depthwise_3x3_packed_s8(const void *params, const memopt_rows *rows,
                                                  const void *const *in, void *out,
                                                  void *scratch) {
  const memopt_depthwise_3x3_packed_s8_params *p = params;
  const int32_t pairs = p->stride_w == 1 ? p->out_w / 2 : 0;
  const int32_t singles = p->out_w - 2 * pairs;
  const int32_t columns = pairs + singles + 1;
  uint32_t *const packed = scratch;
  int32_t oy;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *const to = memopt_out_row(rows, out, oy);
    const uint32_t *w = p->packed.stream;
    const int8_t *row[3];
    int32_t channel, k;
    for (k = 0; k < 3; ++k) {
      row[k] = iy + k < 0 || iy + k >= p->in_h ? 0 : memopt_in_row(rows, in, 0, iy + k);
    }
    for (channel = 0; channel < p->in_c; channel += 4) {
      depthwise_3x3_pack(p, row, channel, columns, packed);
      for (k = 0; k < 4; ++k) {
        const int32_t fused = p->packed.kinds == 0 || p->packed.kinds[channel + k] == MEMOPT_FUSED;
        memopt_columns(fused, p->packed.zero_point, packed + 3 * columns * k, w, to + channel + k,
                       p->in_c, pairs, singles);
        w += MEMOPT_COLUMNS_WORDS;
      }
    }
    if (!p->packed.full) {
      memopt_clamp_s8(to, p->out_w * p->in_c, p->packed.act_min, p->packed.act_max);
    }
  }
}
