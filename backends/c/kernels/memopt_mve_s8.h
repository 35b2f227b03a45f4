/* int8 in Helium, the vector extension of a Cortex-M55: 16 products an instruction, 8 or 4 where they
 * are wider. Loops are tail predicated: the lanes behind the end neither load nor add.
 *
 * -DMEMOPT_NO_DSP takes the portable loops. Both give the same sums: integers add exactly.
 */
#ifndef MEMOPT_MVE_S8_H
#define MEMOPT_MVE_S8_H

#include <stdint.h>

#if defined(__ARM_FEATURE_MVE) && !defined(MEMOPT_NO_DSP)
#define MEMOPT_MVE 1
#include <arm_mve.h>

/* a[0] += x0.w0, a[1] += x0.w1, b[0] += x1.w0, b[1] += x1.w1, of n elements each; the pointers move
 * on by n rounded up to 16. Written out because compilers of today make no tail predicated loop of
 * it, and more instructions. */
static inline void memopt_dot_2x2_mve(const int8_t **x0, const int8_t **x1, const int8_t **w0,
                                      const int8_t **w1, int32_t n, int32_t *a, int32_t *b) {
  __asm__ volatile("wlstp.8 lr, %[n], 2f\n"
                   "1:\n"
                   "vldrb.8 q0, [%[x0]], #16\n"
                   "vldrb.8 q2, [%[w0]], #16\n"
                   "vmladava.s8 %[a0], q0, q2\n"
                   "vldrb.8 q1, [%[x1]], #16\n"
                   "vmladava.s8 %[b0], q1, q2\n"
                   "vldrb.8 q3, [%[w1]], #16\n"
                   "vmladava.s8 %[a1], q0, q3\n"
                   "vmladava.s8 %[b1], q1, q3\n"
                   "letp lr, 1b\n"
                   "2:\n"
                   : [a0] "+Te"(a[0]), [a1] "+Te"(a[1]), [b0] "+Te"(b[0]), [b1] "+Te"(b[1]),
                     [x0] "+r"(*x0), [x1] "+r"(*x1), [w0] "+r"(*w0), [w1] "+r"(*w1)
                   : [n] "r"(n)
                   : "q0", "q1", "q2", "q3", "lr", "memory");
}

/* a[0] += x.w0, a[1] += x.w1, likewise. */
static inline void memopt_dot_1x2_mve(const int8_t **x, const int8_t **w0, const int8_t **w1,
                                      int32_t n, int32_t *a) {
  __asm__ volatile("wlstp.8 lr, %[n], 2f\n"
                   "1:\n"
                   "vldrb.8 q0, [%[x]], #16\n"
                   "vldrb.8 q1, [%[w0]], #16\n"
                   "vmladava.s8 %[a0], q0, q1\n"
                   "vldrb.8 q2, [%[w1]], #16\n"
                   "vmladava.s8 %[a1], q0, q2\n"
                   "letp lr, 1b\n"
                   "2:\n"
                   : [a0] "+Te"(a[0]), [a1] "+Te"(a[1]), [x] "+r"(*x), [w0] "+r"(*w0),
                     [w1] "+r"(*w1)
                   : [n] "r"(n)
                   : "q0", "q1", "q2", "lr", "memory");
}

/* The sum of n int8. */
static inline int32_t memopt_sum_mve(const int8_t *w, int32_t n) {
  int32_t sum = 0;
  __asm__ volatile("wlstp.8 lr, %[n], 2f\n"
                   "1:\n"
                   "vldrb.8 q0, [%[w]], #16\n"
                   "vaddva.s8 %[sum], q0\n"
                   "letp lr, 1b\n"
                   "2:\n"
                   : [sum] "+Te"(sum), [w] "+r"(w)
                   : [n] "r"(n)
                   : "q0", "lr", "memory");
  return sum;
}

/* first = second = n elements. */
static inline void memopt_twice_mve(const int32_t *from, int32_t n, int32_t *first,
                                    int32_t *second) {
  __asm__ volatile("wlstp.32 lr, %[n], 2f\n"
                   "1:\n"
                   "vldrw.32 q0, [%[from]], #16\n"
                   "vstrw.32 q0, [%[first]], #16\n"
                   "vstrw.32 q0, [%[second]], #16\n"
                   "letp lr, 1b\n"
                   "2:\n"
                   : [from] "+r"(from), [first] "+r"(first), [second] "+r"(second)
                   : [n] "r"(n)
                   : "q0", "lr", "memory");
}

/* out = (a * a_multiplier + base + b * b_multiplier) >> shift, of n elements, low .. high. */
static inline void memopt_sum_line_mve(const int8_t *a, int32x4_t a_multiplier, const int8_t *b,
                                       int32_t b_multiplier, int32_t base, int32_t shift, int32_t n,
                                       int32x4_t low, int32x4_t high, int8_t *out) {
  __asm__ volatile("wlstp.32 lr, %[n], 2f\n"
                   "1:\n"
                   "vldrb.s32 q0, [%[a]], #4\n"
                   "vldrb.s32 q1, [%[b]], #4\n"
                   "vmlas.s32 q0, %q[am], %[base]\n"
                   "vmla.s32 q0, q1, %[bm]\n"
                   "vshl.s32 q0, %[left]\n"
                   "vmax.s32 q0, q0, %q[low]\n"
                   "vmin.s32 q0, q0, %q[high]\n"
                   "vstrb.32 q0, [%[out]], #4\n"
                   "letp lr, 1b\n"
                   "2:\n"
                   : [a] "+l"(a), [b] "+l"(b), [out] "+l"(out)
                   : [n] "r"(n), [am] "w"(a_multiplier), [bm] "r"(b_multiplier), [base] "r"(base),
                     [left] "r"(-shift), [low] "w"(low), [high] "w"(high)
                   : "q0", "q1", "lr", "memory");
}

/* Whether one of n <= 16 codes of memopt_requantize is at least `least`. */
static inline int32_t memopt_any_code_mve(const int8_t *code, int32_t n, int8_t least) {
  const mve_pred16_t lanes = vctp8q((uint32_t)n);
  return vcmpgeq_m_s8(vldrbq_z_s8(code, lanes), vdupq_n_s8(least), lanes) != 0;
}

/* out = n accumulators as int8, each with a multiplier and a code, or all with the first, that say
 * how far to shift to the right, which is negative: rounded twice, the second time half away from
 * zero, as memopt_requantize does. What widens a byte as it is read or written takes the address in a
 * low register. */
static inline void memopt_finish_mve(const int32_t *acc, const int32_t *multiplier,
                                     const int8_t *code, int32_t each, int32_t n,
                                     int32_t zero_point, int32x4_t low, int32x4_t high,
                                     int8_t *out) {
  if (each) {
    __asm__ volatile("wlstp.32 lr, %[n], 2f\n"
                     "1:\n"
                     "vldrw.32 q0, [%[acc]], #16\n"
                     "vldrw.32 q1, [%[m]], #16\n"
                     "vqrdmulh.s32 q0, q0, q1\n"
                     "vshr.s32 q1, q0, #31\n"
                     "vadd.i32 q0, q0, q1\n"
                     "vldrb.s32 q1, [%[code]], #4\n"
                     "vrshl.s32 q0, q0, q1\n"
                     "vadd.i32 q0, q0, %[zero]\n"
                     "vmax.s32 q0, q0, %q[low]\n"
                     "vmin.s32 q0, q0, %q[high]\n"
                     "vstrb.32 q0, [%[out]], #4\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [acc] "+r"(acc), [m] "+r"(multiplier), [code] "+l"(code), [out] "+l"(out)
                     : [n] "r"(n), [zero] "r"(zero_point), [low] "w"(low), [high] "w"(high)
                     : "q0", "q1", "lr", "memory");
  } else {
    __asm__ volatile("wlstp.32 lr, %[n], 2f\n"
                     "1:\n"
                     "vldrw.32 q0, [%[acc]], #16\n"
                     "vqrdmulh.s32 q0, q0, %[m]\n"
                     "vshr.s32 q1, q0, #31\n"
                     "vadd.i32 q0, q0, q1\n"
                     "vrshl.s32 q0, %[code]\n"
                     "vadd.i32 q0, q0, %[zero]\n"
                     "vmax.s32 q0, q0, %q[low]\n"
                     "vmin.s32 q0, q0, %q[high]\n"
                     "vstrb.32 q0, [%[out]], #4\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [acc] "+r"(acc), [out] "+l"(out)
                     : [n] "r"(n), [m] "r"(*multiplier), [code] "r"((int32_t)*code),
                       [zero] "r"(zero_point), [low] "w"(low), [high] "w"(high)
                     : "q0", "q1", "lr", "memory");
  }
}

/* The same of any codes but MEMOPT_EVEN: what is added `wide` to those that may shift to the left is
 * taken away. */
static inline void memopt_finish_wide_mve(const int32_t *acc, const int32_t *multiplier,
                                          const int8_t *code, int32_t each, int32_t n,
                                          int32_t zero_point, int32x4_t low, int32x4_t high,
                                          int32_t wide, int8_t *out) {
  for (; n > 0; n -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)n);
    const int32x4_t m = each ? vldrwq_z_s32(multiplier, lanes) : vdupq_n_s32(*multiplier);
    const int32x4_t given = each ? vldrbq_z_s32(code, lanes) : vdupq_n_s32(*code);
    const int32x4_t zero = vdupq_n_s32(0);
    const int32x4_t shift = vsubq_m_n_s32(given, given, wide, vcmpgeq_n_s32(given, 0));
    const int32x4_t right = vminq_s32(shift, zero);
    int32x4_t value = vshlq_s32(vldrwq_z_s32(acc, lanes), vmaxq_s32(shift, zero));
    value = vqrdmulhq_s32(value, m);
    value = vaddq_s32(value, vshrq_n_s32(vandq_s32(value, right), 31));
    value = vaddq_n_s32(vrshlq_s32(value, right), zero_point);
    vstrbq_p_s32(out, vminq_s32(vmaxq_s32(value, low), high), lanes);
    acc += 4;
    multiplier += 4 * each;
    code += 4 * each;
    out += 4;
  }
}
#if MEMOPT_ROUND_EVEN && (__ARM_FEATURE_MVE & 2)
/* The same of multipliers that are floats, rounded as ONNX does. */
static inline void memopt_finish_float_mve(const int32_t *acc, const int32_t *multiplier,
                                           int32_t each, int32_t n, int32_t zero_point,
                                           int32x4_t low, int32x4_t high, int8_t *out) {
  for (; n > 0; n -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)n);
    const int32x4_t m = each ? vldrwq_z_s32(multiplier, lanes) : vdupq_n_s32(*multiplier);
    const float32x4_t sums = vcvtq_f32_s32(vldrwq_z_s32(acc, lanes));
    const int32x4_t steps = vcvtnq_s32_f32(vmulq_f32(sums, vreinterpretq_f32_s32(m)));
    const int32x4_t value = vqaddq_n_s32(steps, zero_point);
    vstrbq_p_s32(out, vminq_s32(vmaxq_s32(value, low), high), lanes);
    acc += 4;
    multiplier += 4 * each;
    out += 4;
  }
}
#endif /* MEMOPT_ROUND_EVEN */
#else
#define MEMOPT_MVE 0
#endif

#endif
