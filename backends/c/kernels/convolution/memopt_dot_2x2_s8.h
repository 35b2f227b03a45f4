/* Dot products of two pixels with the weights of two channels. */
#ifndef MEMOPT_DOT_2X2_S8_H
#define MEMOPT_DOT_2X2_S8_H

#include "memopt_dot_s8.h"

/* As memopt_dot_1xn for two neighbouring pixels, with accumulators of their own. */
#if MEMOPT_MVE
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_2xn(const int8_t *x, const int8_t *w,
                                           const memopt_dot_shape *s, int32_t n,
                                           int32_t acc[2][MEMOPT_TILE]) {
  const int32_t run = s->run;
  const int32_t back = (run + 15) & ~15; /* what a dot product moves on */
  const int32_t w_skip = 2 * s->w_next - back;
  const ptrdiff_t *step = s->x_step;
  const int8_t *x1 = x + s->x_next;
  for (;;) {
    const int8_t *w0 = w;
    const int8_t *w1 = w + s->w_next;
    int32_t *a = acc[0];
    int32_t left;
    for (left = n; left > 1; left -= 2) {
      memopt_dot_2x2_mve(&x, &x1, &w0, &w1, run, a, a + MEMOPT_TILE);
      x -= back;
      x1 -= back;
      w0 += w_skip;
      w1 += w_skip;
      a += 2;
    }
    if (left == 1) {
      w1 = w0; /* for nobody */
      memopt_dot_2x2_mve(&x, &x1, &w0, &w1, run, a, a + MEMOPT_TILE);
      x -= back;
      x1 -= back;
    }
    if (*step == 0) {
      break;
    }
    x += *step;
    x1 += *step++;
    w += s->w_row;
  }
}
#else
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_2xn(const int8_t *x, const int8_t *w,
                                           const memopt_dot_shape *s, int32_t n,
                                           int32_t acc[2][MEMOPT_TILE]) {
  const int32_t run = s->run;
  int32_t c;
  for (c = 0; c < n; c += 2) {
    const int8_t *xr = x;
    const int8_t *wr = w;
    const ptrdiff_t *step = s->x_step;
    const int32_t w_next = c + 1 < n ? s->w_next : 0;
    int32_t a0 = acc[0][c];
    int32_t a1 = acc[0][c + 1];
    int32_t a2 = acc[1][c];
    int32_t a3 = acc[1][c + 1];
    for (;;) {
      const int8_t *x0 = xr;
      const int8_t *x1 = xr + s->x_next;
      const int8_t *w0 = wr;
      const int8_t *w1 = wr + w_next;
      const int8_t *const end = xr + run;
#if MEMOPT_DOT_DSP
      const int8_t *const end4 = xr + (run & ~3);
      while (x0 != end4) {
        uint32_t word = memopt_load_s8x4(w0);
        const int16x2_t we0 = memopt_even_s8(word);
        const int16x2_t wo0 = memopt_odd_s8(word);
        int16x2_t we1, wo1, xe, xo;
        word = memopt_load_s8x4(w1);
        we1 = memopt_even_s8(word);
        wo1 = memopt_odd_s8(word);
        word = memopt_load_s8x4(x0);
        xe = memopt_even_s8(word);
        xo = memopt_odd_s8(word);
        a0 = __smlad(xe, we0, a0);
        a0 = __smlad(xo, wo0, a0);
        a1 = __smlad(xe, we1, a1);
        a1 = __smlad(xo, wo1, a1);
        word = memopt_load_s8x4(x1);
        xe = memopt_even_s8(word);
        xo = memopt_odd_s8(word);
        a2 = __smlad(xe, we0, a2);
        a2 = __smlad(xo, wo0, a2);
        a3 = __smlad(xe, we1, a3);
        a3 = __smlad(xo, wo1, a3);
        x0 += 4;
        x1 += 4;
        w0 += 4;
        w1 += 4;
      }
#endif
      while (x0 != end) {
        const int32_t x0v = *x0++;
        const int32_t x1v = *x1++;
        const int32_t w0v = *w0++;
        const int32_t w1v = *w1++;
        a0 += x0v * w0v;
        a1 += x0v * w1v;
        a2 += x1v * w0v;
        a3 += x1v * w1v;
      }
      if (*step == 0) {
        break;
      }
      xr += *step++;
      wr += s->w_row;
    }
    acc[0][c] = a0;
    acc[0][c + 1] = a1;
    acc[1][c] = a2;
    acc[1][c + 1] = a3;
    w += 2 * s->w_next;
  }
}
#endif

#endif
