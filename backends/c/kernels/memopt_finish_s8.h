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
  while (out != end) {
    const int32_t value = memopt_requantize(*acc++, *multiplier, *shift) + zero_point;
    *out++ = (int8_t)memopt_clamp(value, act_min, act_max);
    multiplier += step;
    shift += step;
  }
}

#endif
