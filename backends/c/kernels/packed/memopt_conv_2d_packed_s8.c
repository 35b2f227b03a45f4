/* CONV_2D, int8, NHWC, weights packed for two pixels times four channels, see memopt_packed_s8.h.
 *
 * The windows of two neighbours are widened into a column in scratch, which all channels read.
 * What of a row under a window is no whole word is put together in scratch first.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point;
  memopt_packed packed; /* scratch: its column, then what is no whole word, at most two windows */
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

/* `n` bytes of padding, a multiple of 4, into every `pixels`th word of a column. */
static MEMOPT_NOINLINE uint32_t *conv_2d_packed_pad(uint32_t *to, int32_t pixels, uint32_t zero,
                                                    int32_t n) {
  for (; n > 0; n -= 2) {
    *to = zero;
    to += pixels;
  }
  return to;
}

/* Two taps of padding. */
static inline uint32_t conv_2d_packed_zero(const memopt_conv_2d_packed_s8_params *p) {
  return memopt_sxtb16(0x00010001u * (uint8_t)p->input_zero_point);
}

/* The place of column `x` in the row under the taps `ky` of a window, null outside. */
static inline const int8_t *conv_2d_packed_from(const memopt_conv_2d_packed_s8_params *p,
                                                const conv_2d_packed_at *at, int32_t ky,
                                                int32_t x) {
  const int32_t iy = at->iy + ky * p->dilation_h;
  if (iy < 0 || iy >= p->in_h) {
    return 0;
  }
  return (at->known ? at->row[ky] : (const int8_t *)memopt_in_row(at->rows, at->in, 0, iy)) +
         x * p->in_c;
}

/* Bytes of a row under a window beyond whole words. They stand behind the words of all rows; taps
 * that are apart stand one after the other. */
static inline int32_t conv_2d_packed_beyond(const memopt_conv_2d_packed_s8_params *p) {
  return p->dilation_w == 1 ? p->k_w * p->in_c & 3 : 0;
}

/* A window from column ix on, of which some may be padding, as bytes. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void conv_2d_packed_bytes(const memopt_conv_2d_packed_s8_params *p,
                                                 const conv_2d_packed_at *at, int32_t ix,
                                                 int8_t *bytes) {
  const int32_t c = p->in_c;
  const int32_t alike = p->dilation_w == 1; /* neighbours are one run */
  const int32_t rest = conv_2d_packed_beyond(p);
  const int32_t words = p->k_w * c - rest;
  int8_t *behind = bytes + p->k_h * words; /* what is beyond words */
  int32_t begin, end, ky, kx;
  memset(bytes, p->input_zero_point, (size_t)p->packed.taps);
  memopt_valid_taps(ix, at->width, p->k_w, p->dilation_w, &begin, &end);
  for (ky = 0; ky < p->k_h; ++ky) {
    const int8_t *from = conv_2d_packed_from(p, at, ky, ix + begin * p->dilation_w);
    for (kx = begin; from != 0 && kx < end; kx += alike ? end - begin : 1) {
      const int32_t first = kx * c;
      const int32_t last = alike ? end * c : first + c;
      const int32_t middle = last < words ? last : first < words ? words : first;
      memcpy(bytes + first, from, (size_t)(middle - first));
      if (middle < last) {
        memcpy(behind + (middle - words), from + (middle - first), (size_t)(last - middle));
      }
      from += p->dilation_w * c;
    }
    bytes += words;
    behind += rest;
  }
}

/* The same of channels that are words, into every `pixels`th word of a column. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void conv_2d_packed_border(const memopt_conv_2d_packed_s8_params *p,
                                                  const conv_2d_packed_at *at, int32_t ix,
                                                  uint32_t *to, int32_t pixels) {
  const uint32_t zero = conv_2d_packed_zero(p);
  const int32_t c = p->in_c;
  const int32_t alike = p->dilation_w == 1;
  int32_t begin, end, ky, kx;
  memopt_valid_taps(ix, at->width, p->k_w, p->dilation_w, &begin, &end);
  for (ky = 0; ky < p->k_h; ++ky) {
    const int8_t *from = conv_2d_packed_from(p, at, ky, ix + begin * p->dilation_w);
    const int32_t first = from == 0 || begin >= end ? p->k_w : begin;
    const int32_t last = from == 0 || begin >= end ? p->k_w : end;
    to = conv_2d_packed_pad(to, pixels, zero, first * c);
    for (kx = first; kx < last; kx += alike ? last - first : 1) {
      to = memopt_widen_1(to, pixels, from, alike ? (last - first) * c : c);
      from += p->dilation_w * c;
    }
    to = conv_2d_packed_pad(to, pixels, zero, (p->k_w - last) * c);
  }
}

/* The window of one pixel, which is whole, and all of its rows whole words. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void conv_2d_packed_whole(const memopt_windows *of, uint32_t *to) {
  int32_t r;
  for (r = 0; r < of->count; ++r) {
    const int8_t *const row = of->rows[r];
    to = row == 0 ? conv_2d_packed_pad(to, 1, of->zero, of->words)
                  : memopt_widen_1(to, 1, row + of->from, of->words);
  }
}

/* Windows that are whole, from column ix on; the second one's place is for whoever has two. */
static inline void conv_2d_packed_of(const memopt_conv_2d_packed_s8_params *p,
                                     const conv_2d_packed_at *at, int32_t ix, uint32_t *column,
                                     memopt_windows *of) {
  of->rows = at->row;
  of->from = ix * p->in_c;
  of->rest = conv_2d_packed_beyond(p);
  of->words = p->k_w * p->in_c - of->rest;
  of->count = p->k_h;
  of->zero = conv_2d_packed_zero(p);
  of->bytes = 0;
  of->taps = 0;
  if (of->rest > 0) {
    of->bytes = (int8_t *)(column + p->packed.taps);
    of->taps = (of->rest * p->k_h + 3) & ~3;
  }
}

/* Pixels from column ix on, whose windows are whole, two at a time; their number is even, or rows under
 * a window are whole words. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void conv_2d_packed_inside(const memopt_conv_2d_packed_s8_params *p,
                                                  const conv_2d_packed_at *at, int32_t ix,
                                                  int32_t pixels, int8_t *out, uint32_t *column) {
  const int32_t channels = p->out_c;
  const int32_t apart = 2 * p->stride_w * p->in_c;
#if MEMOPT_ASM_BLOCK
  const int32_t fused = p->packed.kinds == 0 && (channels & (MEMOPT_BLOCK - 1)) == 0;
  const int32_t z = 2 * p->packed.zero_point + 1;
  const uint32_t *const w = p->packed.stream;
  const uint32_t blocks = (uint32_t)channels / MEMOPT_BLOCK;
  const uint32_t *const w_end = w + blocks * (uint32_t)memopt_block_words(&p->packed);
  const uint32_t *const end = column + p->packed.taps;
#if MEMOPT_ROUND_EVEN
  const int32_t floats = fused && p->packed.kind == MEMOPT_FLOAT;
#endif /* MEMOPT_ROUND_EVEN */
#endif
  memopt_windows of;
  conv_2d_packed_of(p, at, ix, column, &of);
  of.apart = p->stride_w * p->in_c;
  for (; pixels > 1; pixels -= 2) {
    memopt_widen_windows(column, &of);
#if MEMOPT_ASM_BLOCK
#if MEMOPT_ROUND_EVEN
    if (floats) {
      memopt_float_blocks(&p->packed, column, w, w_end, out, out + channels);
    } else
#endif /* MEMOPT_ROUND_EVEN */
    if (fused) { /* what does not change is read once */
      memopt_blocks_2x4(column, w, end, out, out + channels, z, w_end);
    } else
#endif
    {
      memopt_pixels(&p->packed, column, channels, out, out + channels);
    }
    out += 2 * channels;
    of.from += apart;
  }
  if (pixels > 0) {
    conv_2d_packed_whole(&of, column);
#if MEMOPT_ASM_BLOCK
#if MEMOPT_ROUND_EVEN
    if (floats) {
      memopt_float_blocks(&p->packed, column, w, w_end, out, 0);
      return;
    }
#endif /* MEMOPT_ROUND_EVEN */
    if (fused) {
      memopt_blocks_1x4(column, w, column + p->packed.taps / 2, out, z, w_end);
      return;
    }
#endif
    memopt_pixels(&p->packed, column, channels, out, 0);
  }
}

/* The window from column ix on, of which some may be padding, as number i of the `pixels` of a
 * column. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void conv_2d_packed_window(const memopt_conv_2d_packed_s8_params *p,
                                                  const conv_2d_packed_at *at, int32_t ix,
                                                  int32_t i, int32_t pixels, uint32_t *column) {
  int8_t *const bytes = (int8_t *)(column + p->packed.taps);
  if (p->in_c % 4 == 0) {
    conv_2d_packed_border(p, at, ix, column + i, pixels);
  } else {
    conv_2d_packed_bytes(p, at, ix, bytes);
    memopt_widen_1(column + i, pixels, bytes, p->packed.taps);
  }
}

/* One row of the result, of `width` pixels. */
MEMOPT_SMALL
static void conv_2d_packed_row(const memopt_conv_2d_packed_s8_params *p,
                               const conv_2d_packed_at *at, int32_t width, int8_t *out,
                               uint32_t *column) {
  const int32_t last = at->width - p->k_w; /* where the last whole window starts */
  const int32_t runs = at->known && p->dilation_w == 1;
  const int32_t words = conv_2d_packed_beyond(p) == 0;
  int32_t ix = -p->pad_left;
  while (width > 0) {
    int32_t pixels = 0; /* whose windows are whole; an odd one goes with who comes next */
    if (runs && ix >= 0 && ix <= last) {
      pixels = (last - ix) / p->stride_w + 1;
      pixels = pixels < width ? pixels : width;
      pixels -= words && pixels == width ? 0 : pixels & 1;
    }
    if (pixels > 0) {
      conv_2d_packed_inside(p, at, ix, pixels, out, column);
    } else {
      int32_t i;
      pixels = width > 1 ? 2 : 1;
      for (i = 0; i < pixels; ++i) {
        conv_2d_packed_window(p, at, ix + i * p->stride_w, i, pixels, column);
      }
      memopt_pixels(&p->packed, column, p->out_c, out, width > 1 ? out + p->out_c : 0);
    }
    out += pixels * p->out_c;
    ix += pixels * p->stride_w;
    width -= pixels;
  }
}

/* The rows under the windows whose first tap is in row iy. */
MEMOPT_SMALL
static void conv_2d_packed_find(const memopt_conv_2d_packed_s8_params *p, conv_2d_packed_at *at,
                                int32_t iy) {
  int32_t ky;
  at->iy = iy;
  for (ky = 0; at->known && ky < p->k_h; ++ky) {
    at->row[ky] =
        iy < 0 || iy >= p->in_h ? 0 : (const int8_t *)memopt_in_row(at->rows, at->in, 0, iy);
    iy += p->dilation_h;
  }
}

#if MEMOPT_WITH_COLUMNS
/* By how many bytes the window one row of the result further on lies behind this one, of which the rows
 * are known; 0 if either has padding, or not all rows lie equally far behind. */
static int32_t conv_2d_packed_apart(const memopt_conv_2d_packed_s8_params *p,
                                    const conv_2d_packed_at *at) {
  const int32_t last = at->iy + (p->k_h - 1) * p->dilation_h + p->stride_h;
  int32_t y = at->iy + p->stride_h;
  int32_t apart = 0;
  int32_t ky;
  if (!at->known || p->dilation_w != 1 || p->pad_left != 0 || p->k_w > at->width || at->iy < 0 ||
      last >= p->in_h) {
    return 0;
  }
  for (ky = 0; ky < p->k_h; ++ky) {
    const int8_t *const row = (const int8_t *)memopt_in_row(at->rows, at->in, 0, y);
    if (ky > 0 && row - at->row[ky] != apart) {
      return 0;
    }
    apart = (int32_t)(row - at->row[ky]);
    y += p->dilation_h;
  }
  return apart;
}

/* Two rows of the result, of one pixel each. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void conv_2d_packed_two(const memopt_conv_2d_packed_s8_params *p,
                                               conv_2d_packed_at *at, int8_t *out0,
                                               uint32_t *column) {
  int8_t *const out1 = out0 + at->rows->out_stride;
  memopt_windows of;
  of.apart = conv_2d_packed_apart(p, at);
  if (of.apart != 0) {
    conv_2d_packed_of(p, at, 0, column, &of);
    memopt_widen_windows(column, &of);
  } else {
    conv_2d_packed_window(p, at, -p->pad_left, 0, 2, column);
    conv_2d_packed_find(p, at, at->iy + p->stride_h);
    conv_2d_packed_window(p, at, -p->pad_left, 1, 2, column);
  }
  memopt_pixels(&p->packed, column, p->out_c, out0, out1);
  if (!p->packed.full) {
    memopt_clamp_s8(out0, p->out_c, p->packed.act_min, p->packed.act_max);
    memopt_clamp_s8(out1, p->out_c, p->packed.act_min, p->packed.act_max);
  }
}
#endif

MEMOPT_SMALL
KERNEL {
  const int32_t points = p->k_h * p->k_w * p->stride_h * p->stride_w == 1 &&
                         p->pad_top + p->pad_left == 0 && p->out_w == p->in_w;
  uint32_t *const column = (uint32_t *)scratch;
  conv_2d_packed_at at;
  int32_t oy;
  int32_t height = 1;
  at.rows = rows;
  at.in = in;
  at.width = p->in_w;
  at.known = p->k_h <= CONV_2D_PACKED_ROWS;
  if (points && rows->out_end - rows->out_begin > 1 && rows->in_count == 1 &&
      rows->in_stride == p->in_w * p->in_c && rows->out_stride == p->out_w * p->out_c) {
    height = rows->out_end - rows->out_begin; /* rows without gaps are one */
    at.width *= height;
  }
  for (oy = rows->out_begin; oy < rows->out_end; oy += height) {
    const int32_t width = p->out_w * height;
    int8_t *const to = (int8_t *)memopt_out_row(rows, out, oy);
    if (points && (p->in_c & 3) == 0) { /* all windows are whole, and words */
      at.row[0] = (const int8_t *)memopt_in_row(rows, in, 0, oy);
      conv_2d_packed_inside(p, &at, 0, width, to, column);
    } else {
      conv_2d_packed_find(p, &at, oy * p->stride_h - p->pad_top);
#if MEMOPT_WITH_COLUMNS
      if (width == 1 && oy + 1 < rows->out_end) {
        conv_2d_packed_two(p, &at, to, column);
        ++oy;
        continue;
      }
#endif
      conv_2d_packed_row(p, &at, width, to, column);
    }
    if (!p->packed.full) {
      memopt_clamp_s8(to, width * p->out_c, p->packed.act_min, p->packed.act_max);
    }
  }
}
