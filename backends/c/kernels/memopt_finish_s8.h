/* Accumulators to int8: the last step of every int8 product. */
#ifndef MEMOPT_FINISH_S8_H
#define MEMOPT_FINISH_S8_H

#include "memopt_common.h"

/* Channels whose accumulators are kept on the stack at a time: even, as they are taken in pairs. */
#define MEMOPT_TILE 16

typedef struct {
  int32_t zero_point, act_min, act_max;
  int32_t step; /* 1: a multiplier per channel, 0: one for all */
} memopt_finish;

/* out[i] = the requantised acc[i] for n channels from `multiplier` and `shift` on. */
static MEMOPT_NOINLINE void memopt_finish_s8(const memopt_finish *f, const int32_t *multiplier,
                                             const int8_t *shift, int32_t n, const int32_t *acc,
                                             int8_t *restrict out) {
  const int32_t zero_point = f->zero_point;
  const int32_t act_min = f->act_min;
  const int32_t act_max = f->act_max;
  const int32_t step = f->step;
  int8_t *const end = out + n;
  while (out != end) {
    const int32_t value = memopt_requantize(*acc++, *multiplier, *shift) + zero_point;
    *out++ = (int8_t)memopt_clamp(value, act_min, act_max);
    multiplier += step;
    shift += step;
  }
}

#endif
