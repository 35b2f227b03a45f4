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
#if MEMOPT_DOT_WIDE
/* One tap of two pixels and four channels, `i` behind the pointers. */
#define MEMOPT_TAP_2X4(i)                                                                     \
  do {                                                                                        \
    const int32_t xv = x[i], yv = y[i];                                                       \
    const int32_t w0v = w0[i], w1v = w1[i], w2v = w2[i], w3v = w3[i];                         \
    a0 += xv * w0v;                                                                           \
    a1 += xv * w1v;                                                                           \
    a2 += xv * w2v;                                                                           \
    a3 += xv * w3v;                                                                           \
    b0 += yv * w0v;                                                                           \
    b1 += yv * w1v;                                                                           \
    b2 += yv * w2v;                                                                           \
    b3 += yv * w3v;                                                                           \
    MEMOPT_IN_TURN;                                                                           \
  } while (0)

/* As memopt_dot_2xn, four channels at a time. */
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_2x4(const int8_t *first, const int8_t *weights,
                                           const memopt_dot_shape *s, int32_t n, int32_t *acc) {
  for (; n >= 4; n -= 4) {
    const int8_t *x = first;
    const int8_t *w = weights;
    const ptrdiff_t *step = s->x_step;
    int32_t *const next = acc + MEMOPT_TILE;
    int32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    int32_t b0 = next[0], b1 = next[1], b2 = next[2], b3 = next[3];
    for (;;) {
      const int8_t *y = x + s->x_next;
      const int8_t *w0 = w;
      const int8_t *w1 = w0 + s->w_next;
      const int8_t *w2 = w1 + s->w_next;
      const int8_t *w3 = w2 + s->w_next;
      const int8_t *const row = x;
      const int8_t *const end = x + s->run;
      const int8_t *const end4 = x + (s->run & ~3);
      while (x != end4) {
        MEMOPT_TAP_2X4(0);
        MEMOPT_TAP_2X4(1);
        MEMOPT_TAP_2X4(2);
        MEMOPT_TAP_2X4(3);
        x += 4;
        y += 4;
        w0 += 4;
        w1 += 4;
        w2 += 4;
        w3 += 4;
      }
      for (; x != end; ++x) {
        MEMOPT_TAP_2X4(0);
        ++y;
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
    next[0] = b0;
    next[1] = b1;
    next[2] = b2;
    next[3] = b3;
    acc += 4;
    weights += 4 * s->w_next;
  }
}
#endif

#if MEMOPT_DOT_ASM
#if defined(__thumb2__)
#define MEMOPT_DOT_LEAST 24 /* taps that are worth a call */
#else
#define MEMOPT_DOT_LEAST 8
#endif
#define MEMOPT_DOT_START(sum) 0 /* what is not added up here */

/* `taps`, a multiple of four, of two pixels and two channels are added to acc[0] and acc[1] of the
 * first pixel, acc[16] and acc[17], MEMOPT_TILE on, of the second. GCC keeps some of what this needs on
 * the stack; on an M0+ an ADD alone takes registers above R7. */
__attribute__((naked, noinline, unused)) static void memopt_dot_2x2_taps(
    const int8_t *x0 __attribute__((unused)), const int8_t *x1 __attribute__((unused)),
    const int8_t *w0 __attribute__((unused)), const int8_t *w1 __attribute__((unused)),
    int32_t taps __attribute__((unused)), int32_t *acc __attribute__((unused))) {
#if defined(__thumb2__)
  __asm__(
      ".syntax unified\n push {r4-r11, lr}\n ldr r12, [sp, #36]\n ldr lr, [sp, #40]\n"
      "ldrd r4, r5, [lr]\n ldrd r6, r7, [lr, #64]\n"
      "1:\n .rept 4\n ldrsb r8, [r0], #1\n ldrsb r9, [r1], #1\n ldrsb r10, [r2], #1\n"
      "ldrsb r11, [r3], #1\n mla r4, r8, r10, r4\n mla r5, r8, r11, r5\n"
      "mla r6, r9, r10, r6\n mla r7, r9, r11, r7\n .endr\n subs r12, r12, #4\n bne 1b\n"
      "strd r4, r5, [lr]\n strd r6, r7, [lr, #64]\n pop {r4-r11, pc}\n");
#else
  __asm__(
      ".syntax unified\n push {r4-r7, lr}\n mov r4, r8\n mov r5, r9\n mov r6, r10\n mov r7, r11\n"
      "push {r4-r7}\n ldr r4, [sp, #36]\n ldr r7, [sp, #40]\n"
      "ldr r5, [r7]\n mov r8, r5\n ldr r5, [r7, #4]\n mov r9, r5\n"
      "ldr r5, [r7, #64]\n mov r10, r5\n ldr r5, [r7, #68]\n mov r11, r5\n"
      "adds r0, r0, r4\n adds r1, r1, r4\n adds r2, r2, r4\n adds r3, r3, r4\n rsbs r4, r4, #0\n"
      "1:\n .rept 4\n ldrsb r5, [r0, r4]\n ldrsb r6, [r2, r4]\n mov r7, r5\n muls r7, r6, r7\n"
      "add r8, r7\n ldrsb r7, [r1, r4]\n muls r6, r7, r6\n add r10, r6\n ldrsb r6, [r3, r4]\n"
      "muls r5, r6, r5\n add r9, r5\n muls r6, r7, r6\n add r11, r6\n adds r4, #1\n .endr\n"
      "bne 1b\n ldr r7, [sp, #40]\n"
      "mov r5, r8\n str r5, [r7]\n mov r5, r9\n str r5, [r7, #4]\n"
      "mov r5, r10\n str r5, [r7, #64]\n mov r5, r11\n str r5, [r7, #68]\n"
      "pop {r4-r7}\n mov r8, r4\n mov r9, r5\n mov r10, r6\n mov r11, r7\n pop {r4-r7, pc}\n");
#endif
}
#else
#define MEMOPT_DOT_START(sum) (sum)
#endif

/* As memopt_dot_2xn, two channels at a time. */
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_dot_2x2(const int8_t *x, const int8_t *w,
                                           const memopt_dot_shape *s, int32_t n, int32_t *acc) {
  const int32_t run = s->run;
  int32_t *const next = acc + MEMOPT_TILE;
  int32_t c;
  for (c = 0; c < n; c += 2) {
    const int8_t *xr = x;
    const int8_t *wr = w;
    const ptrdiff_t *step = s->x_step;
    const int32_t w_next = c + 1 < n ? s->w_next : 0;
    int32_t a0 = MEMOPT_DOT_START(acc[c]);
    int32_t a1 = MEMOPT_DOT_START(acc[c + 1]);
    int32_t a2 = MEMOPT_DOT_START(next[c]);
    int32_t a3 = MEMOPT_DOT_START(next[c + 1]);
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
#elif MEMOPT_DOT_ASM
      if (run >= MEMOPT_DOT_LEAST) {
        const int32_t taps = run & ~3;
        memopt_dot_2x2_taps(x0, x1, w0, w1, taps, acc + c);
        x0 += taps;
        x1 += taps;
        w0 += taps;
        w1 += taps;
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
#if MEMOPT_DOT_ASM
    acc[c] += a0;
    acc[c + 1] += a1;
    next[c] += a2;
    next[c + 1] += a3;
#else
    acc[c] = a0;
    acc[c + 1] = a1;
    next[c] = a2;
    next[c + 1] = a3;
#endif
    w += 2 * s->w_next;
  }
}

static inline void memopt_dot_2xn(const int8_t *x, const int8_t *w, const memopt_dot_shape *s,
                                  int32_t n, int32_t acc[2][MEMOPT_TILE]) {
#if MEMOPT_DOT_WIDE
  const int32_t fours = n & ~3;
  memopt_dot_2x4(x, w, s, n, acc[0]);
  memopt_dot_2x2(x, w + fours * s->w_next, s, n - fours, acc[0] + fours);
#else
  memopt_dot_2x2(x, w, s, n, acc[0]);
#endif
}
#endif

#endif
