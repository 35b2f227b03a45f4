/* Dot products of float vectors, several at a time: a loaded value is used more than once. */
#ifndef MEMOPT_DOT_F32_H
#define MEMOPT_DOT_F32_H

#include "memopt_common.h"

/* Vectors of `n` elements; weights of a filter `step` behind those of the one before, of which 0 to
 * `last` are there; the second of two pixels, or the fifth of eight filters, `apart` behind the
 * first. Sums begin with those at `from`. */
typedef struct {
  const float *from;
  int32_t n, step, last, apart;
} memopt_dots_f32;

/* acc[k] = from[k] + x.w of filters 0 and 1 from w on, or of 0 for both. */
static inline void memopt_dot_1x2_f32(const float *x, const float *w, const memopt_dots_f32 *of,
                                      float *acc) {
  const float *w1 = w + of->last * of->step;
  float a0 = of->from[0];
  float a1 = of->from[1];
  int32_t n;
  for (n = of->n; n > 0; --n) {
    const float xv = *x++;
    a0 += xv * *w++;
    a1 += xv * *w1++;
  }
  acc[0] = a0;
  acc[1] = a1;
}

/* Cortex-M4F and its like: several words are loaded at a time, which takes a cycle less for each,
 * and products are made in the registers of the weights. The numbers are those of the loop in C. */
#if defined(__OPTIMIZE__) && !defined(__clang__) && defined(__ARM_ARCH_7EM__) && \
    defined(__ARM_FP)
#define MEMOPT_DOTS_F32_ASM 1
#define MEMOPT_MULTIPLY_TWO(x, a, b, to_a, to_b) \
  "vmul.f32 " to_a ", " a ", " x "\n vmul.f32 " to_b ", " b ", " x "\n"
#define MEMOPT_ADD_TWO(sum_a, sum_b, a, b) \
  "vadd.f32 " sum_a ", " sum_a ", " a "\n vadd.f32 " sum_b ", " sum_b ", " b "\n"
/* Four elements x of two filters, whose weights are in s0 to s3 and s8 to s11. */
#define MEMOPT_FOUR_F32(x0, x1, x2, x3, sum_a, sum_b)                                              \
  MEMOPT_MULTIPLY_TWO(x0, "s0", "s8", "s0", "s8")                                                  \
  MEMOPT_MULTIPLY_TWO(x1, "s1", "s9", "s1", "s9")                                                  \
  MEMOPT_MULTIPLY_TWO(x2, "s2", "s10", "s2", "s10")                                                \
  MEMOPT_MULTIPLY_TWO(x3, "s3", "s11", "s3", "s11")                                                \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s0", "s8")                                                         \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s1", "s9")                                                         \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s2", "s10")                                                        \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s3", "s11")
/* Eight, whose last four weights are behind those. */
#define MEMOPT_EIGHT_F32(sum_a, sum_b)                                                             \
  MEMOPT_MULTIPLY_TWO("s20", "s4", "s12", "s4", "s12")                                             \
  MEMOPT_MULTIPLY_TWO("s21", "s5", "s13", "s5", "s13")                                             \
  MEMOPT_MULTIPLY_TWO("s22", "s6", "s14", "s6", "s14")                                             \
  MEMOPT_MULTIPLY_TWO("s23", "s7", "s15", "s7", "s15")                                             \
  MEMOPT_FOUR_F32("s16", "s17", "s18", "s19", sum_a, sum_b)                                        \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s4", "s12")                                                        \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s5", "s13")                                                        \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s6", "s14")                                                        \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s7", "s15")
/* Four elements of two pixels, in s0 to s7, and the next four weights of two filters. */
#define MEMOPT_SIXTEEN_F32(w, v, sum_a, sum_b, sum_c, sum_d)                                       \
  "vldmia " w "!, {s8-s11}\n vldmia " v "!, {s12-s15}\n"                                           \
  MEMOPT_MULTIPLY_TWO("s4", "s8", "s12", "s16", "s20")                                             \
  MEMOPT_MULTIPLY_TWO("s5", "s9", "s13", "s17", "s21")                                             \
  MEMOPT_MULTIPLY_TWO("s6", "s10", "s14", "s18", "s22")                                            \
  MEMOPT_MULTIPLY_TWO("s7", "s11", "s15", "s19", "s23")                                            \
  MEMOPT_MULTIPLY_TWO("s0", "s8", "s12", "s8", "s12")                                              \
  MEMOPT_MULTIPLY_TWO("s1", "s9", "s13", "s9", "s13")                                              \
  MEMOPT_MULTIPLY_TWO("s2", "s10", "s14", "s10", "s14")                                            \
  MEMOPT_MULTIPLY_TWO("s3", "s11", "s15", "s11", "s15")                                            \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s8", "s12") MEMOPT_ADD_TWO(sum_c, sum_d, "s16", "s20")             \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s9", "s13") MEMOPT_ADD_TWO(sum_c, sum_d, "s17", "s21")             \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s10", "s14") MEMOPT_ADD_TWO(sum_c, sum_d, "s18", "s22")            \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s11", "s15") MEMOPT_ADD_TWO(sum_c, sum_d, "s19", "s23")
/* The last two elements, in s16 and s17. */
#define MEMOPT_TWO_OF_F32(w, v, sum_a, sum_b)                                                      \
  "vldmia " w "!, {s0-s1}\n vldmia " v "!, {s8-s9}\n"                                              \
  MEMOPT_MULTIPLY_TWO("s16", "s0", "s8", "s0", "s8")                                               \
  MEMOPT_MULTIPLY_TWO("s17", "s1", "s9", "s1", "s9")                                               \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s0", "s8") MEMOPT_ADD_TWO(sum_a, sum_b, "s1", "s9")
/* One element of a pixel in x, and the weights of four filters in s8 to s11, which stay. */
#define MEMOPT_ONE_F32(x, sum_a, sum_b, sum_c, sum_d)                                              \
  MEMOPT_MULTIPLY_TWO(x, "s8", "s9", "s12", "s13")                                                 \
  MEMOPT_MULTIPLY_TWO(x, "s10", "s11", "s14", "s15")                                               \
  MEMOPT_ADD_TWO(sum_a, sum_b, "s12", "s13") MEMOPT_ADD_TWO(sum_c, sum_d, "s14", "s15")
#define MEMOPT_EIGHT_OF_F32(w, v, sum_a, sum_b)                                                    \
  "vldmia " w "!, {s0-s7}\n vldmia " v "!, {s8-s15}\n" MEMOPT_EIGHT_F32(sum_a, sum_b)
#define MEMOPT_FOUR_OF_F32(w, v, sum_a, sum_b)                                                     \
  "vldmia " w "!, {s0-s3}\n vldmia " v "!, {s8-s11}\n"                                             \
  MEMOPT_FOUR_F32("s16", "s17", "s18", "s19", sum_a, sum_b)
#define MEMOPT_ONE_OF_FOUR_F32                                                                     \
  "vldmia %[w0]!, {s8}\n vldmia %[w1]!, {s9}\n vldmia %[w2]!, {s10}\n vldmia %[w3]!, {s11}\n"
/* All n elements at x of eight filters, added to s24 to s31. */
#define MEMOPT_DOT_1X8_F32(x, w0, w1, w2, w3, w4, w5, w6, w7, n)                                   \
  "subs " n ", " n ", #8\n blt 2f\n 1:\n vldmia " x "!, {s16-s23}\n"                               \
  MEMOPT_EIGHT_OF_F32(w0, w1, "s24", "s25")                                                        \
  MEMOPT_EIGHT_OF_F32(w2, w3, "s26", "s27")                                                        \
  MEMOPT_EIGHT_OF_F32(w4, w5, "s28", "s29")                                                        \
  MEMOPT_EIGHT_OF_F32(w6, w7, "s30", "s31")                                                        \
  "subs " n ", " n ", #8\n bge 1b\n cmn " n ", #8\n beq 5f\n"                                      \
  "2:\n adds " n ", " n ", #4\n blt 3f\n vldmia " x "!, {s16-s19}\n"                               \
  MEMOPT_FOUR_OF_F32(w0, w1, "s24", "s25")                                                         \
  MEMOPT_FOUR_OF_F32(w2, w3, "s26", "s27")                                                         \
  MEMOPT_FOUR_OF_F32(w4, w5, "s28", "s29")                                                         \
  MEMOPT_FOUR_OF_F32(w6, w7, "s30", "s31")                                                         \
  "sub " n ", " n ", #4\n"                                                                         \
  "3:\n adds " n ", " n ", #2\n blt 4f\n vldmia " x "!, {s16-s17}\n"                               \
  MEMOPT_TWO_OF_F32(w0, w1, "s24", "s25")                                                          \
  MEMOPT_TWO_OF_F32(w2, w3, "s26", "s27")                                                          \
  MEMOPT_TWO_OF_F32(w4, w5, "s28", "s29")                                                          \
  MEMOPT_TWO_OF_F32(w6, w7, "s30", "s31")                                                          \
  "sub " n ", " n ", #2\n"                                                                         \
  "4:\n adds " n ", " n ", #2\n beq 5f\n vldmia " x "!, {s0}\n"                                    \
  "vldmia " w0 "!, {s8}\n vldmia " w1 "!, {s9}\n vldmia " w2 "!, {s10}\n vldmia " w3 "!, {s11}\n"  \
  MEMOPT_ONE_F32("s0", "s24", "s25", "s26", "s27")                                                 \
  "vldmia " w4 "!, {s8}\n vldmia " w5 "!, {s9}\n vldmia " w6 "!, {s10}\n vldmia " w7 "!, {s11}\n"  \
  MEMOPT_ONE_F32("s0", "s28", "s29", "s30", "s31")                                                 \
  "5:\n"
/* What the assembly of four sums changes beside its operands. */
#define MEMOPT_DOTS_F32_CHANGE                                                                     \
  "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", \
      "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25",   \
      "s26", "s27"
#else
#define MEMOPT_DOTS_F32_ASM 0
#endif

/* acc[k] = from[k] + x.w of filters 0 .. 3 from w on, or of the last for those behind it. */
MEMOPT_FAST
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_dot_1x4_f32(const float *x, const float *w,
                                                    const memopt_dots_f32 *of, float *acc) {
  const int32_t last = of->last;
  const float *w0 = w;
  const float *w1 = w + (last > 0 ? of->step : 0);
  const float *w2 = w1 + (last > 1 ? of->step : 0);
  const float *w3 = w2 + (last > 2 ? of->step : 0);
  int32_t n = of->n;
#if MEMOPT_DOTS_F32_ASM
  __asm__ volatile(
      "vldmia %[from], {s24-s27}\n"
      "subs %[n], %[n], #8\n"
      "blt 2f\n"
      "1:\n"
      "vldmia %[x]!, {s16-s23}\n"
      MEMOPT_EIGHT_OF_F32("%[w0]", "%[w1]", "s24", "s25")
      MEMOPT_EIGHT_OF_F32("%[w2]", "%[w3]", "s26", "s27")
      "subs %[n], %[n], #8\n"
      "bge 1b\n"
      "2:\n"
      "adds %[n], %[n], #4\n"
      "blt 3f\n"
      "vldmia %[x]!, {s16-s19}\n"
      MEMOPT_FOUR_OF_F32("%[w0]", "%[w1]", "s24", "s25")
      MEMOPT_FOUR_OF_F32("%[w2]", "%[w3]", "s26", "s27")
      "sub %[n], %[n], #4\n"
      "3:\n"
      "adds %[n], %[n], #4\n"
      "beq 5f\n"
      "4:\n"
      "vldmia %[x]!, {s0}\n" MEMOPT_ONE_OF_FOUR_F32
      MEMOPT_ONE_F32("s0", "s24", "s25", "s26", "s27")
      "subs %[n], %[n], #1\n"
      "bne 4b\n"
      "5:\n"
      "vstmia %[acc], {s24-s27}\n"
      : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3), [n] "+r"(n)
      : [from] "r"(of->from), [acc] "r"(acc)
      : MEMOPT_DOTS_F32_CHANGE);
#else
  float a0 = of->from[0];
  float a1 = of->from[1];
  float a2 = of->from[2];
  float a3 = of->from[3];
  for (; n > 3; n -= 4) {
    int32_t k;
    for (k = 0; k < 4; ++k) {
      a0 += x[k] * w0[k];
      a1 += x[k] * w1[k];
      a2 += x[k] * w2[k];
      a3 += x[k] * w3[k];
    }
    x += 4;
    w0 += 4;
    w1 += 4;
    w2 += 4;
    w3 += 4;
  }
  for (; n > 0; --n) {
    const float xv = *x++;
    a0 += xv * *w0++;
    a1 += xv * *w1++;
    a2 += xv * *w2++;
    a3 += xv * *w3++;
  }
  acc[0] = a0;
  acc[1] = a1;
  acc[2] = a2;
  acc[3] = a3;
#endif
}

/* acc[k] = from[k] + x.w of eight filters: four from w on, four from `apart` behind. */
MEMOPT_FAST
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_dot_1x8_f32(const float *x, const float *w,
                                                    const memopt_dots_f32 *of, float *acc) {
#if MEMOPT_DOTS_F32_ASM
  const float *w0 = w;
  const float *w1 = w + of->step;
  const float *w2 = w1 + of->step;
  const float *w3 = w2 + of->step;
  const float *w4 = w + of->apart;
  const float *w5 = w4 + of->step;
  const float *w6 = w5 + of->step;
  const float *w7 = w6 + of->step;
  int32_t n = of->n;
  __asm__ volatile(
      "vldmia %[from], {s24-s31}\n"
      MEMOPT_DOT_1X8_F32("%[x]", "%[w0]", "%[w1]", "%[w2]", "%[w3]", "%[w4]", "%[w5]", "%[w6]",
                         "%[w7]", "%[n]")
      "vstmia %[acc], {s24-s31}\n"
      : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3), [w4] "+r"(w4),
        [w5] "+r"(w5), [w6] "+r"(w6), [w7] "+r"(w7), [n] "+r"(n)
      : [from] "r"(of->from), [acc] "r"(acc)
      : MEMOPT_DOTS_F32_CHANGE, "s28", "s29", "s30", "s31");
#else
  memopt_dots_f32 four = *of;
  four.last = 3;
  memopt_dot_1x4_f32(x, w, &four, acc);
  four.from += 4;
  memopt_dot_1x4_f32(x, w + of->apart, &four, acc + 4);
#endif
}

/* As memopt_dot_1x4_f32, of two pixels; acc[4 + k] are the second's. */
MEMOPT_FAST
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_dot_2x4_f32(const float *x, const float *w,
                                                    const memopt_dots_f32 *of, float *acc) {
  const int32_t last = of->last;
  const float *x1 = x + of->apart;
  const float *w0 = w;
  const float *w1 = w + (last > 0 ? of->step : 0);
  const float *w2 = w1 + (last > 1 ? of->step : 0);
  const float *w3 = w2 + (last > 2 ? of->step : 0);
  int32_t n = of->n;
#if MEMOPT_DOTS_F32_ASM
  __asm__ volatile(
      "vldmia %[from], {s24-s31}\n"
      "subs %[n], %[n], #4\n"
      "blt 2f\n"
      "1:\n"
      "vldmia %[x]!, {s0-s3}\n vldmia %[x1]!, {s4-s7}\n"
      MEMOPT_SIXTEEN_F32("%[w0]", "%[w1]", "s24", "s25", "s28", "s29")
      MEMOPT_SIXTEEN_F32("%[w2]", "%[w3]", "s26", "s27", "s30", "s31")
      "subs %[n], %[n], #4\n"
      "bge 1b\n"
      "2:\n"
      "adds %[n], %[n], #4\n"
      "beq 4f\n"
      "3:\n"
      "vldmia %[x]!, {s0}\n vldmia %[x1]!, {s4}\n" MEMOPT_ONE_OF_FOUR_F32
      MEMOPT_ONE_F32("s0", "s24", "s25", "s26", "s27")
      MEMOPT_ONE_F32("s4", "s28", "s29", "s30", "s31")
      "subs %[n], %[n], #1\n"
      "bne 3b\n"
      "4:\n"
      "vstmia %[acc], {s24-s31}\n"
      : [x] "+r"(x), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3),
        [n] "+r"(n)
      : [from] "r"(of->from), [acc] "r"(acc)
      : MEMOPT_DOTS_F32_CHANGE, "s28", "s29", "s30", "s31");
#else
  float a0 = of->from[0];
  float a1 = of->from[1];
  float a2 = of->from[2];
  float a3 = of->from[3];
  float b0 = of->from[4];
  float b1 = of->from[5];
  float b2 = of->from[6];
  float b3 = of->from[7];
  for (; n > 0; --n) {
    const float x0v = *x++;
    const float x1v = *x1++;
    const float w0v = *w0++;
    const float w1v = *w1++;
    const float w2v = *w2++;
    const float w3v = *w3++;
    a0 += x0v * w0v;
    a1 += x0v * w1v;
    a2 += x0v * w2v;
    a3 += x0v * w3v;
    b0 += x1v * w0v;
    b1 += x1v * w1v;
    b2 += x1v * w2v;
    b3 += x1v * w3v;
  }
  acc[0] = a0;
  acc[1] = a1;
  acc[2] = a2;
  acc[3] = a3;
  acc[4] = b0;
  acc[5] = b1;
  acc[6] = b2;
  acc[7] = b3;
#endif
}

#endif
