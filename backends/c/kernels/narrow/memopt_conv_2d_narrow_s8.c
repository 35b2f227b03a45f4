/* CONV_2D, int8, NHWC, weights packed for two pixels times four channels, whose windows stay bytes
 * in scratch, see memopt_narrow_s8.h: half the scratch of memopt_conv_2d_packed_s8, and slower.
 */
#include "memopt_common.h"
#include "memopt_narrow_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c; /* in_c, out_c: multiples of 4 */
  int32_t out_w, out_c;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point;
  memopt_packed packed; /* scratch: its column, a byte for each tap and pixel */
} memopt_conv_2d_narrow_s8_params;

/* `n` bytes, a multiple of 4, into every `pixels`th word of a column; of padding if `from` is null.
 * Returns what is behind them. */
static inline int8_t *conv_2d_narrow_words(int8_t *to, int32_t pixels, const int8_t *from,
                                           int32_t n, uint32_t zero) {
  const int32_t next = 4 * pixels;
  const int8_t *const end = to + n * pixels;
  while (to != end) {
    const uint32_t word = from == 0 ? zero : memopt_word(from);
    memcpy(to, &word, sizeof word);
    to += next;
    from += from == 0 ? 0 : 4;
  }
  return to;
}

/* The window from column ix on into every `pixels`th word of a column. */
static MEMOPT_NOINLINE void conv_2d_narrow_window(const memopt_conv_2d_narrow_s8_params *p,
                                                  const memopt_rows *rows, const void *const *in,
                                                  int32_t iy, int32_t ix, int32_t pixels,
                                                  int8_t *to) {
  const uint32_t zero = 0x01010101u * (uint8_t)p->input_zero_point;
  const int32_t c = p->in_c;
  const int32_t alike = p->dilation_w == 1; /* neighbours are one run */
  int32_t begin, end, ky, kx;
  memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &begin, &end);
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t inside = iy >= 0 && iy < p->in_h && begin < end;
    const int32_t first = inside ? begin : p->k_w;
    const int32_t last = inside ? end : p->k_w;
    to = conv_2d_narrow_words(to, pixels, 0, first * c, zero);
    if (inside) {
      const int8_t *from =
          (const int8_t *)memopt_in_row(rows, in, 0, iy) + (ix + first * p->dilation_w) * c;
      for (kx = first; kx < last; kx += alike ? last - first : 1) {
        to = conv_2d_narrow_words(to, pixels, from, alike ? (last - first) * c : c, zero);
        from += p->dilation_w * c;
      }
    }
    to = conv_2d_narrow_words(to, pixels, 0, (p->k_w - last) * c, zero);
    iy += p->dilation_h;
  }
}

MEMOPT_KERNEL void memopt_conv_2d_narrow_s8(const void *params, const memopt_rows *rows,
                                            const void *const *in, void *out, void *scratch) {
  const memopt_conv_2d_narrow_s8_params *p = params;
  int32_t oy, ox;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    int8_t *const to = memopt_out_row(rows, out, oy);
    for (ox = 0; ox < p->out_w; ox += 2) {
      const int32_t iy = oy * p->stride_h - p->pad_top;
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t pixels = ox + 1 < p->out_w ? 2 : 1;
      int8_t *const at = to + ox * p->out_c;
      int8_t *const column = scratch;
      conv_2d_narrow_window(p, rows, in, iy, ix, pixels, column);
      if (pixels == 2) {
        conv_2d_narrow_window(p, rows, in, iy, ix + p->stride_w, 2, column + 4);
      }
      memopt_narrow_pixels(&p->packed, column, p->out_c, at, pixels == 2 ? at + p->out_c : 0);
    }
    if (!p->packed.full) {
      memopt_clamp_s8(to, p->out_w * p->out_c, p->packed.act_min, p->packed.act_max);
    }
  }
}
