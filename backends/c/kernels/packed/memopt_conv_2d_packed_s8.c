/* CONV_2D, int8, NHWC, weights packed for two pixels times four channels, see memopt_packed_s8.h.
 *
 * The windows of two neighbours are widened into a column in scratch, which all channels read.
 * Where the channels of a tap are no words, its bytes are put together in scratch first.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w, k_c; /* k_c = in_c */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point;
  memopt_packed packed; /* scratch: its column, then a window whose channels are no words */
} memopt_conv_2d_packed_s8_params;

#define CONV_2D_PACKED_ROWS 16 /* of a window, whose places are looked up once */

/* Where the windows of a row stand: the input row of their first tap, and the rows that they read,
 * of which those outside are null, as far as there is room. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t iy;
  int32_t width;  /* of an input row */
  int32_t known;  /* there is room for all rows */
  const int8_t *row[CONV_2D_PACKED_ROWS];
} conv_2d_packed_at;

/* Few bytes, which a call would cost more than; the last words overlap. */
static inline int8_t *conv_2d_packed_copy(int8_t *to, const int8_t *from, int32_t n) {
  int8_t *const end = to + n;
  if (n < 4) {
    while (to != end) {
      *to++ = *from++;
    }
    return to;
  }
  for (; n > 4; n -= 4) {
    memcpy(to, from, 4);
    to += 4;
    from += 4;
  }
  memcpy(end - 4, from + n - 4, 4);
  return end;
}

static inline int8_t *conv_2d_packed_fill(int8_t *to, int32_t value, int32_t n) {
  for (; n > 0; --n) {
    *to++ = (int8_t)value;
  }
  return to;
}

/* `n` bytes of padding, a multiple of 4, into every `pixels`th word of a column. */
static inline uint32_t *conv_2d_packed_pad(uint32_t *to, int32_t pixels, int32_t value, int32_t n) {
  const uint32_t word = memopt_sxtb16(0x00010001u * (uint8_t)value);
  for (; n > 0; n -= 2) {
    *to = word;
    to += pixels;
  }
  return to;
}

/* A window from column ix on, of which some may be padding, into every `pixels`th word of a column.
 * Channels that are no words are put together as bytes first. */
static MEMOPT_NOINLINE void conv_2d_packed_border(const memopt_conv_2d_packed_s8_params *p,
                                                  const conv_2d_packed_at *at, int32_t ix,
                                                  uint32_t *to, int32_t pixels, int8_t *bytes) {
  const int32_t zero = p->input_zero_point;
  const int32_t c = p->in_c;
  const int32_t in_words = c % 4 == 0;
  const int32_t step = p->dilation_w * c;
  int8_t *byte = bytes;
  int32_t iy = at->iy;
  int32_t begin, end, alike, ky, kx;
  memopt_valid_taps(ix, at->width, p->k_w, p->dilation_w, &begin, &end);
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t there = iy >= 0 && iy < p->in_h;
    const int32_t first = there ? begin : 0;
    const int32_t last = there ? end : 0;
    const int8_t *from = 0;
    if (first < last) {
      from = (const int8_t *)memopt_in_row(at->rows, at->in, 0, iy) + ix * c + first * step;
    }
    if (in_words) {
      to = conv_2d_packed_pad(to, pixels, zero, first * c);
    } else {
      byte = conv_2d_packed_fill(byte, zero, first * c);
    }
    for (kx = first; kx < last; kx += alike) {
      const int32_t n = step == c ? (last - first) * c : c; /* neighbours are one run */
      alike = step == c ? last - first : 1;
      if (in_words) {
        to = memopt_widen_1(to, pixels, from, n);
      } else {
        byte = conv_2d_packed_copy(byte, from, n);
      }
      from += step;
    }
    if (in_words) {
      to = conv_2d_packed_pad(to, pixels, zero, (p->k_w - last) * c);
    } else {
      byte = conv_2d_packed_fill(byte, zero, (p->k_w - last) * c);
    }
    iy += p->dilation_h;
  }
  if (!in_words) {
    memopt_widen_1(to, pixels, bytes, p->packed.taps);
  }
}

/* A window without padding beside it of channels that are no words, `from` the start of each row
 * on. */
static inline void conv_2d_packed_window(const memopt_conv_2d_packed_s8_params *p,
                                         const conv_2d_packed_at *at, int32_t from, uint32_t *to,
                                         int32_t pixels, int8_t *bytes) {
  const int32_t run = p->k_w * p->in_c;
  int8_t *byte = bytes;
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    if (at->row[ky] == 0) {
      byte = conv_2d_packed_fill(byte, p->input_zero_point, run);
    } else {
      byte = conv_2d_packed_copy(byte, at->row[ky] + from, run);
    }
  }
  memopt_widen_1(to, pixels, bytes, p->packed.taps);
}

/* One row of the result, of `width` pixels. */
static void conv_2d_packed_row(const memopt_conv_2d_packed_s8_params *p,
                               const conv_2d_packed_at *at, int32_t width, int8_t *out,
                               void *scratch) {
  const int32_t run = p->k_w * p->in_c;
  const int32_t apart = p->stride_w * p->in_c;
  const int32_t known = at->known && p->dilation_w == 1;
  uint32_t *const column = scratch;
  int8_t *const bytes = (int8_t *)(column + p->packed.taps);
  int32_t ix = -p->pad_left;
  int32_t left;
  for (left = width; left > 0; left -= 2) {
    const int32_t pixels = left > 1 ? 2 : 1;
    const int32_t from = ix * p->in_c;
    const int32_t whole =
        known && ix >= 0 && ix + (pixels - 1) * p->stride_w + p->k_w <= at->width;
    int32_t i;
    if (whole && p->in_c % 4 == 0) {
      uint32_t *to = column;
      for (i = 0; i < p->k_h; ++i) {
        const int8_t *const row = at->row[i];
        if (row == 0) {
          to = conv_2d_packed_pad(to, 1, p->input_zero_point, pixels * run);
        } else {
          to = memopt_widen(to, row + from, pixels == 2 ? row + from + apart : 0, run);
        }
      }
    } else {
      for (i = 0; i < pixels; ++i) {
        if (whole) {
          conv_2d_packed_window(p, at, from + i * apart, column + i, pixels, bytes);
        } else {
          conv_2d_packed_border(p, at, ix + i * p->stride_w, column + i, pixels, bytes);
        }
      }
    }
    memopt_pixels(&p->packed, column, p->out_c, out, pixels == 2 ? out + p->out_c : 0);
    out += 2 * p->out_c;
    ix += 2 * p->stride_w;
  }
}

/* The rows under the windows whose first tap is in row iy. */
static void conv_2d_packed_find(const memopt_conv_2d_packed_s8_params *p, conv_2d_packed_at *at,
                                int32_t iy) {
  int32_t ky;
  at->iy = iy;
  at->known = p->k_h <= CONV_2D_PACKED_ROWS;
  for (ky = 0; at->known && ky < p->k_h; ++ky) {
    at->row[ky] = iy < 0 || iy >= p->in_h ? 0 : memopt_in_row(at->rows, at->in, 0, iy);
    iy += p->dilation_h;
  }
}

MEMOPT_KERNEL void memopt_conv_2d_packed_s8(const void *params, const memopt_rows *rows,
                                            const void *const *in, void *out, void *scratch) {
  const memopt_conv_2d_packed_s8_params *p = params;
  conv_2d_packed_at at;
  int32_t oy;
  int32_t height = 1;
  at.rows = rows;
  at.in = in;
  at.width = p->in_w;
  if (p->k_h * p->k_w * p->stride_h * p->stride_w == 1 && p->pad_top + p->pad_left == 0 &&
      p->out_w == p->in_w && rows->in_count == 1 && rows->in_stride == p->in_w * p->in_c &&
      rows->out_stride == p->out_w * p->out_c) {
    height = rows->out_end - rows->out_begin; /* rows without gaps are one */
    at.width *= height;
  }
  for (oy = rows->out_begin; oy < rows->out_end; oy += height) {
    int8_t *const to = memopt_out_row(rows, out, oy);
    conv_2d_packed_find(p, &at, oy * p->stride_h - p->pad_top);
    conv_2d_packed_row(p, &at, p->out_w * height, to, scratch);
    if (!p->packed.full) {
      memopt_clamp_s8(to, p->out_w * height * p->out_c, p->packed.act_min, p->packed.act_max);
    }
  }
}
