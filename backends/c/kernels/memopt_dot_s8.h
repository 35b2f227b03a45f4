/* Dot products of int8 vectors, several at a time so that a loaded value is used
 * more than once. On a core with the DSP extension (Cortex-M4, M7, M55) two
 * products are made per instruction; -DMEMOPT_NO_DSP takes the portable loop.
 * Both give the same sums: int32 addition is exact.
 */
#ifndef MEMOPT_DOT_S8_H
#define MEMOPT_DOT_S8_H

#include <stdint.h>

#if defined(__ARM_FEATURE_DSP) && !defined(MEMOPT_NO_DSP)
#include <arm_acle.h>
#include <string.h>

/* Bytes 0 and 2 of four int8, and bytes 1 and 3, each as two int16. Any order
 * will do for a dot product as long as both factors use the same. */
static inline void memopt_load_s8x4(const int8_t *from, int16x2_t *even, int16x2_t *odd) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  *even = __sxtb16((int8x4_t)word);
  *odd = __sxtb16((int8x4_t)((word >> 8) | (word << 24)));
}
#define MEMOPT_DOT_DSP 1
#else
#define MEMOPT_DOT_DSP 0
#endif

/* acc[0] += x0.w0, acc[1] += x0.w1, acc[2] += x1.w0, acc[3] += x1.w1 over n elements. */
static inline void memopt_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *w0,
                                  const int8_t *w1, int32_t n, int32_t acc[4]) {
  int32_t a0 = acc[0];
  int32_t a1 = acc[1];
  int32_t a2 = acc[2];
  int32_t a3 = acc[3];
#if MEMOPT_DOT_DSP
  for (; n >= 4; n -= 4) {
    int16x2_t xe0, xo0, xe1, xo1, we, wo;
    memopt_load_s8x4(x0, &xe0, &xo0);
    memopt_load_s8x4(x1, &xe1, &xo1);
    memopt_load_s8x4(w0, &we, &wo);
    a0 = __smlad(xe0, we, a0);
    a0 = __smlad(xo0, wo, a0);
    a2 = __smlad(xe1, we, a2);
    a2 = __smlad(xo1, wo, a2);
    memopt_load_s8x4(w1, &we, &wo);
    a1 = __smlad(xe0, we, a1);
    a1 = __smlad(xo0, wo, a1);
    a3 = __smlad(xe1, we, a3);
    a3 = __smlad(xo1, wo, a3);
    x0 += 4;
    x1 += 4;
    w0 += 4;
    w1 += 4;
  }
#endif
  for (; n > 0; --n) {
    const int32_t x0v = *x0++;
    const int32_t x1v = *x1++;
    const int32_t w0v = *w0++;
    const int32_t w1v = *w1++;
    a0 += x0v * w0v;
    a1 += x0v * w1v;
    a2 += x1v * w0v;
    a3 += x1v * w1v;
  }
  acc[0] = a0;
  acc[1] = a1;
  acc[2] = a2;
  acc[3] = a3;
}

/* acc[0] += x.w0, acc[1] += x.w1 over n elements. */
static inline void memopt_dot_1x2(const int8_t *x, const int8_t *w0, const int8_t *w1, int32_t n,
                                  int32_t acc[2]) {
  int32_t a0 = acc[0];
  int32_t a1 = acc[1];
#if MEMOPT_DOT_DSP
  for (; n >= 4; n -= 4) {
    int16x2_t xe, xo, we, wo;
    memopt_load_s8x4(x, &xe, &xo);
    memopt_load_s8x4(w0, &we, &wo);
    a0 = __smlad(xe, we, a0);
    a0 = __smlad(xo, wo, a0);
    memopt_load_s8x4(w1, &we, &wo);
    a1 = __smlad(xe, we, a1);
    a1 = __smlad(xo, wo, a1);
    x += 4;
    w0 += 4;
    w1 += 4;
  }
#endif
  for (; n > 0; --n) {
    const int32_t xv = *x++;
    a0 += xv * *w0++;
    a1 += xv * *w1++;
  }
  acc[0] = a0;
  acc[1] = a1;
}

/* The sum of n weights: what padded taps are multiplied with. */
static inline int32_t memopt_sum_s8(const int8_t *w, int32_t n) {
  int32_t sum = 0;
  for (; n > 0; --n) {
    sum += *w++;
  }
  return sum;
}

#endif
