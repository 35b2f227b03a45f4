/* RSQRT, int16 (TensorFlow Lite Micro, elementwise.cc: RsqrtEvalQuantized). Zero points are 0. */
#include "memopt_each.h"
#include "memopt_fixed_point.h"

typedef struct {
  int32_t row_n;
  int32_t multiplier, shift; /* of 2^20 times the reciprocal root, to the right */
} memopt_rsqrt_s16_params;

/* Of what is not above 0, which the runtime refuses below it, the largest. */
static inline int16_t rsqrt_s16(const memopt_rsqrt_s16_params *p, int32_t x) {
  int32_t inverse, places, fine;
  if (x <= 0) {
    return INT16_MAX;
  }
  inverse = memopt_inverse_root(x, &places);
  fine = memopt_requantize_wide(1, inverse, places + 20);
  return (int16_t)memopt_clamp(memopt_requantize_wide(fine, p->multiplier, p->shift), INT16_MIN,
                               INT16_MAX);
}

/* `output` may be `input`. */
KERNEL {
  MEMOPT_EACH(int16_t, p, rsqrt_s16(p, x));
}
