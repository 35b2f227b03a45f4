/* Dot products of float vectors, several at a time: a loaded value is used more than once. */
#ifndef MEMOPT_DOT_F32_H
#define MEMOPT_DOT_F32_H

#include <stdint.h>

/* acc[0] += x0.w0, acc[1] += x0.w1, acc[2] += x1.w0, acc[3] += x1.w1 over n elements. */
static inline void memopt_dot_2x2_f32(const float *x0, const float *x1, const float *w0,
                                      const float *w1, int32_t n, float acc[4]) {
  float a0 = acc[0];
  float a1 = acc[1];
  float a2 = acc[2];
  float a3 = acc[3];
  for (; n > 0; --n) {
    const float x0v = *x0++;
    const float x1v = *x1++;
    const float w0v = *w0++;
    const float w1v = *w1++;
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
static inline void memopt_dot_1x2_f32(const float *x, const float *w0, const float *w1, int32_t n,
                                      float acc[2]) {
  float a0 = acc[0];
  float a1 = acc[1];
  for (; n > 0; --n) {
    const float xv = *x++;
    a0 += xv * *w0++;
    a1 += xv * *w1++;
  }
  acc[0] = a0;
  acc[1] = a1;
}

#endif
