/* RFFT2D, float32 to complex numbers of two floats: transforms of rows, then of columns, in scratch. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t count;      /* transforms */
  int32_t in_h, in_w; /* what is outside is cut off, what is missing zero */
  int32_t height, width;
  int32_t longest;    /* of both */
  const float *turns; /* cos and -sin of i / longest turns, i < longest / 2 */
} memopt_real_fft_2d_f32_params;

/* `n` numbers (a power of 2), `step` numbers apart: in reversed order of bits, then by pairs. */
static void fft_line(const memopt_real_fft_2d_f32_params *p, float *x, int32_t n, int32_t step) {
  int32_t i, j, k, half, bit;
  for (i = 1, j = 0; i < n; ++i) {
    for (bit = n >> 1; j & bit; bit >>= 1) {
      j ^= bit;
    }
    j ^= bit;
    for (k = 0; i < j && k < 2; ++k) {
      float *const a = x + 2 * step * i + k;
      float *const b = x + 2 * step * j + k;
      const float swapped = *a;
      *a = *b;
      *b = swapped;
    }
  }
  for (half = 1; half < n; half *= 2) {
    for (i = 0; i < n; i += 2 * half) {
      for (j = 0; j < half; ++j) {
        const float *turn = p->turns + 2 * (j * (p->longest / (2 * half)));
        float *const a = x + 2 * step * (i + j);
        float *const b = a + 2 * step * half;
        const float re = b[0] * turn[0] - b[1] * turn[1];
        const float im = b[0] * turn[1] + b[1] * turn[0];
        b[0] = a[0] - re;
        b[1] = a[1] - im;
        a[0] += re;
        a[1] += im;
      }
    }
  }
}

MEMOPT_FAST
KERNEL {
  const int32_t kept = p->width / 2 + 1;
  const float *input = (const float *)in[0];
  float *output = (float *)out;
  float *const x = (float *)scratch;
  int32_t n, row, i;
  (void)rows;
  for (n = 0; n < p->count; ++n) {
    for (row = 0; row < p->height; ++row) {
      float *const line = x + 2 * row * p->width;
      for (i = 0; i < p->width; ++i) {
        line[2 * i] = row < p->in_h && i < p->in_w ? input[row * p->in_w + i] : 0.0f;
        line[2 * i + 1] = 0.0f;
      }
      fft_line(p, line, p->width, 1);
    }
    for (i = 0; i < kept && p->height > 1; ++i) {
      fft_line(p, x + 2 * i, p->height, p->width);
    }
    for (row = 0; row < p->height; ++row) {
      memcpy(output, x + 2 * row * p->width, (size_t)(2 * kept) * sizeof *output);
      output += 2 * kept;
    }
    input += p->in_h * p->in_w;
  }
}
