/* ConvInteger, int8 and uint8, channels first: sums of products less zero points. Operands are the
 * images, the filters, the images' zero point, and that of all filters or of each. */
#include "memopt_common.h"

typedef struct {
  int32_t batches, groups, in_h, in_w;
  int32_t filters, depth; /* of a group */
  int32_t k_h, k_w, out_h, out_w;
  int32_t stride_h, stride_w, dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t zeros;          /* each filter has a zero point */
  int32_t a_sign, b_sign; /* 128 for int8, 0 for uint8 */
} memopt_conv_integer_params;

/* One element of the result: `x` is the first channel of the group, `w` the filter. */
static int32_t conv_integer_sum(const memopt_conv_integer_params *p, const uint8_t *x,
                                const uint8_t *w, int32_t zero, int32_t w_zero, int32_t iy,
                                int32_t ix) {
  uint32_t sum = 0;
  int32_t c, ky, kx;
  for (c = 0; c < p->depth; ++c) {
    for (ky = 0; ky < p->k_h; ++ky) {
      const int32_t y = iy + ky * p->dilation_h;
      for (kx = 0; kx < p->k_w; ++kx) {
        const int32_t at = ix + kx * p->dilation_w;
        if (y >= 0 && y < p->in_h && at >= 0 && at < p->in_w) {
          const int32_t a = ((x[y * p->in_w + at] ^ p->a_sign) - p->a_sign) - zero;
          const int32_t b = ((w[ky * p->k_w + kx] ^ p->b_sign) - p->b_sign) - w_zero;
          sum += (uint32_t)(a * b);
        }
      }
    }
    x += p->in_h * p->in_w;
    w += p->k_h * p->k_w;
  }
  return (int32_t)sum;
}

KERNEL {
  const uint8_t *const w = (const uint8_t *)in[1];
  const uint8_t *const zeros = (const uint8_t *)in[3];
  const int32_t zero = (*(const uint8_t *)in[2] ^ p->a_sign) - p->a_sign;
  const uint8_t *x = (const uint8_t *)in[0];
  int32_t *output = (int32_t *)out;
  int32_t n, g, f, oy, ox;
  (void)rows;
  (void)scratch;
  for (n = 0; n < p->batches; ++n) {
    for (g = 0; g < p->groups; ++g) {
      for (f = 0; f < p->filters; ++f) {
        const int32_t number = g * p->filters + f;
        const uint8_t *const taps = w + number * p->depth * p->k_h * p->k_w;
        const int32_t w_zero = (zeros[p->zeros ? number : 0] ^ p->b_sign) - p->b_sign;
        for (oy = 0; oy < p->out_h; ++oy) {
          for (ox = 0; ox < p->out_w; ++ox) {
            *output++ = conv_integer_sum(p, x, taps, zero, w_zero, oy * p->stride_h - p->pad_top,
                                         ox * p->stride_w - p->pad_left);
          }
        }
      }
      x += p->depth * p->in_h * p->in_w;
    }
  }
}
