/* Dot products of int8 windows, several at a time so that a loaded value is used more than once.
 */
#ifndef MEMOPT_DOT_S8_H
#define MEMOPT_DOT_S8_H

#include "memopt_dsp_s8.h"
#include "memopt_finish_s8.h"
#include "memopt_mve_s8.h"

#include <stddef.h>

#define MEMOPT_STRETCHES 10 /* of one dot product, at most */

/* 1 where there are registers for eight sums. */
#if defined(__arm__)
#define MEMOPT_DOT_WIDE 0
#else
#define MEMOPT_DOT_WIDE 1
#endif

/* 1 where instructions of a Cortex-M make them, one product each. */
#if defined(__arm__) && defined(__thumb__) && defined(__GNUC__) && !MEMOPT_DOT_DSP && \
    !defined(MEMOPT_NO_DSP)
#define MEMOPT_DOT_ASM 1
#else
#define MEMOPT_DOT_ASM 0
#endif

/* Loads stay behind it: a compiler that makes all of them first keeps what it loads on the stack. */
#if defined(__riscv)
#define MEMOPT_IN_TURN __asm__ volatile("" ::: "memory")
#else
#define MEMOPT_IN_TURN ((void)0)
#endif

/* Stretches of `run` elements: x_step[i] from stretch i to the next, which may be anywhere, 0 behind
 * the last one; w_row in the weights. The next pixel is x_next after the first, the next channel's
 * weights w_next after the first's. */
typedef struct {
  int32_t run;
  int32_t w_row;
  int32_t x_next, w_next;
  ptrdiff_t x_step[MEMOPT_STRETCHES];
} memopt_dot_shape;

/* acc[c] += x.w(c) for the weights of n channels; acc has room for one more. */
#if MEMOPT_MVE
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_1xn(const int8_t *x, const int8_t *w,
                                           const memopt_dot_shape *s, int32_t n, int32_t *acc) {
  const int32_t run = s->run;
  const int32_t back = (run + 15) & ~15; /* what a dot product moves on */
  const int32_t w_skip = 2 * s->w_next - back;
  const ptrdiff_t *step = s->x_step;
  for (;;) {
    const int8_t *w0 = w;
    const int8_t *w1 = w + s->w_next;
    int32_t *a = acc;
    int32_t left;
    for (left = n; left > 1; left -= 2) {
      memopt_dot_1x2_mve(&x, &w0, &w1, run, a);
      x -= back;
      w0 += w_skip;
      w1 += w_skip;
      a += 2;
    }
    if (left == 1) {
      w1 = w0; /* for nobody */
      memopt_dot_1x2_mve(&x, &w0, &w1, run, a);
      x -= back;
    }
    if (*step == 0) {
      break;
    }
    x += *step++;
    w += s->w_row;
  }
}
#else
#if MEMOPT_DOT_WIDE
/* One tap of four channels, `i` behind the pointers. */
#define MEMOPT_TAP_1X4(i)                                                                     \
  do {                                                                                        \
    const int32_t xv = x[i];                                                                  \
    a0 += xv * w0[i];                                                                         \
    a1 += xv * w1[i];                                                                         \
    a2 += xv * w2[i];                                                                         \
    a3 += xv * w3[i];                                                                         \
    MEMOPT_IN_TURN;                                                                           \
  } while (0)

/* As memopt_dot_1xn, four channels at a time. */
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_1x4(const int8_t *first, const int8_t *weights,
                                           const memopt_dot_shape *s, int32_t n, int32_t *acc) {
  for (; n >= 4; n -= 4) {
    const int8_t *x = first;
    const int8_t *w = weights;
    const ptrdiff_t *step = s->x_step;
    int32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    for (;;) {
      const int8_t *w0 = w;
      const int8_t *w1 = w0 + s->w_next;
      const int8_t *w2 = w1 + s->w_next;
      const int8_t *w3 = w2 + s->w_next;
      const int8_t *const row = x;
      const int8_t *const end = x + s->run;
      const int8_t *const end4 = x + (s->run & ~3);
      while (x != end4) {
        MEMOPT_TAP_1X4(0);
        MEMOPT_TAP_1X4(1);
        MEMOPT_TAP_1X4(2);
        MEMOPT_TAP_1X4(3);
        x += 4;
        w0 += 4;
        w1 += 4;
        w2 += 4;
        w3 += 4;
      }
      for (; x != end; ++x) {
        MEMOPT_TAP_1X4(0);
        ++w0;
        ++w1;
        ++w2;
        ++w3;
      }
      if (*step == 0) {
        break;
      }
      x = row + *step++;
      w += s->w_row;
    }
    acc[0] = a0;
    acc[1] = a1;
    acc[2] = a2;
    acc[3] = a3;
    acc += 4;
    weights += 4 * s->w_next;
  }
}
#endif

/* As memopt_dot_1xn, two channels at a time. */
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_1x2(const int8_t *x, const int8_t *w,
                                           const memopt_dot_shape *s, int32_t n, int32_t *acc) {
  const int32_t run = s->run;
  for (; n > 0; n -= 2) {
    const int8_t *xr = x;
    const int8_t *wr = w;
    const ptrdiff_t *step = s->x_step;
    const int32_t w_next = n > 1 ? s->w_next : 0;
    int32_t a0 = acc[0];
    int32_t a1 = acc[1];
    for (;;) {
      const int8_t *x0 = xr;
      const int8_t *w0 = wr;
      const int8_t *w1 = wr + w_next;
      const int8_t *const end = xr + run;
#if MEMOPT_DOT_DSP
      const int8_t *const end4 = xr + (run & ~3);
      while (x0 != end4) {
        uint32_t word = memopt_load_s8x4(x0);
        const int16x2_t xe = memopt_even_s8(word);
        const int16x2_t xo = memopt_odd_s8(word);
        word = memopt_load_s8x4(w0);
        a0 = __smlad(xe, memopt_even_s8(word), a0);
        a0 = __smlad(xo, memopt_odd_s8(word), a0);
        word = memopt_load_s8x4(w1);
        a1 = __smlad(xe, memopt_even_s8(word), a1);
        a1 = __smlad(xo, memopt_odd_s8(word), a1);
        x0 += 4;
        w0 += 4;
        w1 += 4;
      }
#endif
      while (x0 != end) {
        const int32_t xv = *x0++;
        a0 += xv * *w0++;
        a1 += xv * *w1++;
      }
      if (*step == 0) {
        break;
      }
      xr += *step++;
      wr += s->w_row;
    }
    acc[0] = a0;
    acc[1] = a1;
    acc += 2;
    w += 2 * s->w_next;
  }
}

static inline void memopt_dot_1xn(const int8_t *x, const int8_t *w, const memopt_dot_shape *s,
                                  int32_t n, int32_t *acc) {
#if MEMOPT_DOT_WIDE
  const int32_t fours = n & ~3;
  memopt_dot_1x4(x, w, s, n, acc);
  w += fours * s->w_next;
  acc += fours;
  n -= fours;
#endif
  memopt_dot_1x2(x, w, s, n, acc);
}
#endif

/* The sum of n weights: what padded taps are multiplied with. */
static inline int32_t memopt_sum_s8(const int8_t *w, int32_t n) {
#if MEMOPT_MVE
  return memopt_sum_mve(w, n);
#else
  int32_t sum = 0;
#if MEMOPT_DOT_DSP
  for (; n >= 4; n -= 4) {
    const uint32_t word = memopt_load_s8x4(w);
    sum = __smlad(memopt_even_s8(word), 0x00010001, sum);
    sum = __smlad(memopt_odd_s8(word), 0x00010001, sum);
    w += 4;
  }
#endif
  for (; n > 0; --n) {
    sum += *w++;
  }
  return sum;
#endif
}

#endif
