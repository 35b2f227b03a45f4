/* CONV_2D, int8, NHWC, weights packed for two pixels times four channels, see memopt_packed_s8.h.
 *
 * The windows of two neighbours are widened into a column in scratch, which all channels read.
 * Where not all of both is inside, or the channels of a tap are no words, the bytes are put
 * together in scratch first, padding as the zero point.
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
  memopt_packed packed; /* its column and two windows of bytes are the scratch */
} memopt_conv_2d_packed_s8_params;

#define CONV_2D_PACKED_ROWS 16 /* of a window, whose places are looked up once */

/* Where the windows of a row stand: the input row of their first tap, and the rows that they read,
 * of which those outside are null, as far as there is room. */
typedef struct {
  const memopt_rows *rows;
  const void *const *in;
  int32_t iy;
  int32_t width;  /* of an input row */
  int32_t inside; /* all rows are there, and known */
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

static inline int8_t *conv_2d_packed_fill(int8_t *to, uint32_t words, int32_t n) {
  int8_t *const end = to + n;
  for (; n >= 4; n -= 4) {
    memcpy(to, &words, 4);
    to += 4;
  }
  while (to != end) {
    *to++ = (int8_t)(words & 0xffu);
  }
  return to;
}

/* The bytes of a window from column ix on, of which some may be padding. */
static MEMOPT_NOINLINE void conv_2d_packed_border(const memopt_conv_2d_packed_s8_params *p,
                                                  const conv_2d_packed_at *at, int32_t ix,
                                                  int8_t *to) {
  const uint32_t zero = 0x01010101u * (uint8_t)p->input_zero_point;
  const int32_t c = p->in_c;
  const int32_t run = p->k_w * c;
  const int32_t step = p->dilation_w * c;
  int32_t iy = at->iy;
  int32_t begin, end, ky, kx;
  memopt_valid_taps(ix, at->width, p->k_w, p->dilation_w, &begin, &end);
  for (ky = 0; ky < p->k_h; ++ky) {
    if (iy < 0 || iy >= p->in_h || begin == end) {
      to = conv_2d_packed_fill(to, zero, run);
    } else {
      const int8_t *from = memopt_in_row(at->rows, at->in, 0, iy);
      from += ix * c + begin * step;
      to = conv_2d_packed_fill(to, zero, begin * c);
      if (step == c) {
        to = conv_2d_packed_copy(to, from, (end - begin) * c);
      } else {
        for (kx = begin; kx < end; ++kx) {
          to = conv_2d_packed_copy(to, from, c);
          from += step;
        }
      }
      to = conv_2d_packed_fill(to, zero, run - end * c);
    }
    iy += p->dilation_h;
  }
}

/* The bytes of a window without padding, `from` the start of each row on. */
static inline void conv_2d_packed_window(const memopt_conv_2d_packed_s8_params *p,
                                         const conv_2d_packed_at *at, int32_t from, int32_t run,
                                         int8_t *to) {
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    to = conv_2d_packed_copy(to, at->row[ky] + from, run);
  }
}

/* One row of the result, of `width` pixels. */
static void conv_2d_packed_row(const memopt_conv_2d_packed_s8_params *p,
                               const conv_2d_packed_at *at, int32_t width, int8_t *out,
                               void *scratch) {
  const int32_t taps = p->packed.taps;
  const int32_t run = p->k_w * p->in_c;
  const int32_t apart = p->stride_w * p->in_c;
  const int32_t inside = at->inside && p->dilation_w == 1;
  uint32_t *const column = scratch;
  int8_t *const bytes = (int8_t *)(column + taps);
  int32_t ix = -p->pad_left;
  int32_t left;
  for (left = width; left > 0; left -= 2) {
    const int32_t second = left > 1 ? p->stride_w : 0;
    const int32_t from = ix * p->in_c;
    const int32_t whole = inside && ix >= 0 && ix + second + p->k_w <= at->width;
    if (whole && p->in_c % 4 == 0) {
      uint32_t *to = column;
      int32_t ky;
      for (ky = 0; ky < p->k_h; ++ky) {
        const int8_t *const row = at->row[ky] + from;
        to = memopt_widen(to, row, left > 1 ? row + apart : 0, run);
      }
    } else {
      if (whole) {
        conv_2d_packed_window(p, at, from, run, bytes);
        conv_2d_packed_window(p, at, left > 1 ? from + apart : from, run, bytes + taps);
      } else {
        conv_2d_packed_border(p, at, ix, bytes);
        conv_2d_packed_border(p, at, ix + second, bytes + taps);
      }
      memopt_widen(column, bytes, left > 1 ? bytes + taps : 0, taps);
    }
    memopt_pixels(&p->packed, column, p->out_c, out, left > 1 ? out + p->out_c : 0);
    out += 2 * p->out_c;
    ix += 2 * p->stride_w;
  }
}

/* The rows under the windows whose first tap is in row iy. */
static void conv_2d_packed_find(const memopt_conv_2d_packed_s8_params *p, conv_2d_packed_at *at,
                                int32_t iy) {
  int32_t ky;
  at->iy = iy;
  at->inside = p->k_h <= CONV_2D_PACKED_ROWS && iy >= 0 &&
               iy + (p->k_h - 1) * p->dilation_h < p->in_h;
  for (ky = 0; at->inside && ky < p->k_h; ++ky) {
    at->row[ky] = memopt_in_row(at->rows, at->in, 0, iy + ky * p->dilation_h);
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
