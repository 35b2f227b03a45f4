/* Recurrent layers whose weights are float32. */
#ifndef MEMOPT_RECURRENT_F32_H
#define MEMOPT_RECURRENT_F32_H

#include "memopt_recurrent.h"

typedef struct {
  int32_t batches, in_n, units, kept; /* a step makes kept * units numbers */
  int32_t in_batch, out_batch;        /* numbers from a batch to the next */
  int32_t reverse; /* from the last step on */
  int32_t starts;  /* whether operand 1 is the initial state, else it is `start`, or zeros */
  float clip;
  const float *weights;   /* [gates][units][in_n] */
  const float *recurrent; /* [gates][units][units] */
  const float *bias;
  const float *start; /* [batches][states][units] */
} memopt_recurrent_sizes_f32;

/* Cortex-M4F and its like: several words are loaded at a time, which takes a cycle less for each. The
 * numbers are those of the loop in C. */
#if defined(__GNUC__) && defined(__ARM_ARCH_7EM__) && defined(__ARM_FP)
#define MEMOPT_BY_EIGHTS 1
#define MEMOPT_TWO_COLUMNS(x, a, b) \
  "vmul.f32 " #a ", " #a ", " #x "\n" \
  "vmul.f32 " #b ", " #b ", " #x "\n"
#define MEMOPT_TWO_ROWS(sum_a, sum_b)                                             \
  MEMOPT_TWO_COLUMNS(s16, s0, s8)                                                 \
  MEMOPT_TWO_COLUMNS(s17, s1, s9)                                                 \
  MEMOPT_TWO_COLUMNS(s18, s2, s10)                                                \
  MEMOPT_TWO_COLUMNS(s19, s3, s11)                                                \
  MEMOPT_TWO_COLUMNS(s20, s4, s12)                                                \
  MEMOPT_TWO_COLUMNS(s21, s5, s13)                                                \
  MEMOPT_TWO_COLUMNS(s22, s6, s14)                                                \
  MEMOPT_TWO_COLUMNS(s23, s7, s15)                                                \
  MEMOPT_ADD_TWO(sum_a, sum_b, s0, s8) MEMOPT_ADD_TWO(sum_a, sum_b, s1, s9)       \
  MEMOPT_ADD_TWO(sum_a, sum_b, s2, s10) MEMOPT_ADD_TWO(sum_a, sum_b, s3, s11)     \
  MEMOPT_ADD_TWO(sum_a, sum_b, s4, s12) MEMOPT_ADD_TWO(sum_a, sum_b, s5, s13)     \
  MEMOPT_ADD_TWO(sum_a, sum_b, s6, s14) MEMOPT_ADD_TWO(sum_a, sum_b, s7, s15)
#define MEMOPT_ADD_TWO(sum_a, sum_b, a, b)       \
  "vadd.f32 " #sum_a ", " #sum_a ", " #a "\n" \
  "vadd.f32 " #sum_b ", " #sum_b ", " #b "\n"
#else
#define MEMOPT_BY_EIGHTS 0
#endif

/* acc[k] += x.w of rows 0 .. 3 of w, or of `last` for those behind it. */
MEMOPT_FAST
static void memopt_dot_1x4_f32(const float *x, const float *w, int32_t n, int32_t last,
                               float *acc) {
  const float *w0 = w;
  const float *w1 = w + (last > 0 ? n : 0);
  const float *w2 = last > 1 ? w1 + n : w1;
  const float *w3 = last > 2 ? w2 + n : w2;
  float a0, a1, a2, a3;
#if MEMOPT_BY_EIGHTS
  if (n > 7) {
    int32_t left = n & ~7;
    n &= 7;
    __asm__ volatile(
        "vldmia %[acc], {s24-s27}\n"
        "1:\n"
        "vldmia %[x]!, {s16-s23}\n"
        "vldmia %[w0]!, {s0-s7}\n"
        "vldmia %[w1]!, {s8-s15}\n"
        MEMOPT_TWO_ROWS(s24, s25)
        "vldmia %[w2]!, {s0-s7}\n"
        "vldmia %[w3]!, {s8-s15}\n"
        MEMOPT_TWO_ROWS(s26, s27)
        "subs %[left], %[left], #8\n"
        "bgt 1b\n"
        "vstmia %[acc], {s24-s27}\n"
        : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3),
          [left] "+r"(left)
        : [acc] "r"(acc)
        : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
          "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24",
          "s25", "s26", "s27");
    if (n == 0) {
      return;
    }
  }
#endif
  a0 = acc[0];
  a1 = acc[1];
  a2 = acc[2];
  a3 = acc[3];
#if !MEMOPT_BY_EIGHTS
  for (; n > 3; n -= 4) {
    const float xa = x[0];
    const float xb = x[1];
    const float xc = x[2];
    const float xd = x[3];
    a0 += xa * w0[0];
    a1 += xa * w1[0];
    a2 += xa * w2[0];
    a3 += xa * w3[0];
    a0 += xb * w0[1];
    a1 += xb * w1[1];
    a2 += xb * w2[1];
    a3 += xb * w3[1];
    a0 += xc * w0[2];
    a1 += xc * w1[2];
    a2 += xc * w2[2];
    a3 += xc * w3[2];
    a0 += xd * w0[3];
    a1 += xd * w1[3];
    a2 += xd * w2[3];
    a3 += xd * w3[3];
    x += 4;
    w0 += 4;
    w1 += 4;
    w2 += 4;
    w3 += 4;
  }
#endif
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
}

/* What a gate of the units from `unit` on takes: products of a step with its weights, those of what
 * is held with its recurrent weights where these are wanted, added to what is in `acc`. */
static inline void memopt_recurrent_gate_f32(const memopt_recurrent_sizes_f32 *z, int32_t gate,
                                         int32_t unit, const float *x, const float *held,
                                         float *acc) {
  const int32_t row = gate * z->units + unit;
  const int32_t last = z->units - 1 - unit;
  if (x) {
    memopt_dot_1x4_f32(x, z->weights + row * z->in_n, z->in_n, last, acc);
  }
  if (held) {
    memopt_dot_1x4_f32(held, z->recurrent + row * z->units, z->units, last, acc);
  }
}

#endif
