/* Accumulators to int8: the last step of every int8 product. */
#ifndef MEMOPT_FINISH_S8_H
#define MEMOPT_FINISH_S8_H

#include "memopt_common.h"
#include "memopt_mve_s8.h"

/* Channels whose accumulators are kept on the stack at a time: even, as they are taken in pairs. */
#define MEMOPT_TILE 16

#define MEMOPT_CODES 127 /* of memopt_requantize, from where on they do not say how far to shift */

#if MEMOPT_ROUND_EVEN && MEMOPT_WITH_LINES
#undef MEMOPT_CODES
#define MEMOPT_CODES MEMOPT_LINE
#endif /* MEMOPT_ROUND_EVEN */

typedef struct {
  int32_t zero_point, act_min, act_max;
  int32_t step; /* 1: a multiplier per channel, 0: one for all */
} memopt_finish;

#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
/* memopt_requantize_even of four numbers: the results of one are not waited for. */
static inline void memopt_even_four(const int32_t *acc, const int32_t *multiplier, int32_t *v0,
                                    int32_t *v1, int32_t *v2, int32_t *v3) {
  __asm__("vldmia %[acc], {s0-s3}\n vldmia %[by], {s4-s7}\n"
          "vcvt.f32.s32 s0, s0\n vcvt.f32.s32 s1, s1\n"
          "vcvt.f32.s32 s2, s2\n vcvt.f32.s32 s3, s3\n"
          "vmul.f32 s0, s0, s4\n vmul.f32 s1, s1, s5\n vmul.f32 s2, s2, s6\n vmul.f32 s3, s3, s7\n"
          "vcvtr.s32.f32 s0, s0\n vcvtr.s32.f32 s1, s1\n"
          "vcvtr.s32.f32 s2, s2\n vcvtr.s32.f32 s3, s3\n"
          "vmov %[v0], %[v1], s0, s1\n vmov %[v2], %[v3], s2, s3\n"
          "ssat %[v0], #12, %[v0]\n ssat %[v1], #12, %[v1]\n"
          "ssat %[v2], #12, %[v2]\n ssat %[v3], #12, %[v3]\n"
          : [v0] "=&r"(*v0), [v1] "=&r"(*v1), [v2] "=&r"(*v2), [v3] "=&r"(*v3)
          : [acc] "r"(acc), [by] "r"(multiplier), "m"(*(const int32_t(*)[4])acc),
            "m"(*(const int32_t(*)[4])multiplier)
          : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7");
}
#endif /* MEMOPT_ROUND_EVEN */

/* out[i] = the requantised acc[i] for n <= MEMOPT_TILE channels from `multiplier` and `shift` on. */
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_finish_s8(const memopt_finish *f, const int32_t *multiplier,
                                             const int8_t *shift, int32_t n, const int32_t *acc,
                                             int8_t *restrict out) {
  const int32_t zero_point = f->zero_point;
  const int32_t act_min = f->act_min;
  const int32_t act_max = f->act_max;
  const int32_t step = f->step;
  int8_t *const end = out + n;
#if MEMOPT_MVE
  const int32x4_t low = vdupq_n_s32(act_min);
  const int32x4_t high = vdupq_n_s32(act_max);
  const int32_t codes = step ? n : 1;
#if MEMOPT_ROUND_EVEN && (__ARM_FEATURE_MVE & 2)
  if (*shift == MEMOPT_EVEN) { /* all are, for the operator rounds so */
    memopt_finish_float_mve(acc, multiplier, step, n, zero_point, low, high, out);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
  if (!memopt_any_code_mve(shift, codes, 0)) {
    memopt_finish_mve(acc, multiplier, shift, step, n, zero_point, low, high, out);
    return;
  }
  if (!memopt_any_code_mve(shift, codes, MEMOPT_CODES)) {
    memopt_finish_wide_mve(acc, multiplier, shift, step, n, zero_point, low, high, MEMOPT_WIDE,
                           out);
    return;
  }
#endif
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
  if (*shift == MEMOPT_EVEN) { /* all are, for the operator rounds so */
    for (; step == 1 && end - out >= 4; out += 4) {
      int32_t v0, v1, v2, v3;
      memopt_even_four(acc, multiplier, &v0, &v1, &v2, &v3);
      out[0] = (int8_t)memopt_clamp(v0 + zero_point, act_min, act_max);
      out[1] = (int8_t)memopt_clamp(v1 + zero_point, act_min, act_max);
      out[2] = (int8_t)memopt_clamp(v2 + zero_point, act_min, act_max);
      out[3] = (int8_t)memopt_clamp(v3 + zero_point, act_min, act_max);
      acc += 4;
      multiplier += 4;
    }
    for (; out != end; multiplier += step) {
      const int32_t value = memopt_requantize_even(*acc++, *multiplier) + zero_point;
      *out++ = (int8_t)memopt_clamp(value, act_min, act_max);
    }
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
  while (out != end) {
    const int32_t value = memopt_requantize(*acc++, *multiplier, *shift) + zero_point;
    *out++ = (int8_t)memopt_clamp(value, act_min, act_max);
    multiplier += step;
    shift += step;
  }
}

#endif
