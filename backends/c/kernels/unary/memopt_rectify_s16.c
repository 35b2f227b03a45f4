/* RELU, RELU6, LEAKY_RELU and ABS of int16: a line on each side of zero, within a range. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
  int32_t input_zero_point, output_zero_point;
  int32_t above_multiplier, above_shift; /* see memopt_requantize */
  int32_t below_multiplier, below_shift; /* the multiplier of ABS is negative */
  int32_t act_min, act_max;
} memopt_rectify_s16_params;

static inline int16_t rectified_s16(const memopt_rectify_s16_params *p, int32_t x) {
  const int32_t value = x - p->input_zero_point;
  const int32_t steps = value >= 0
                            ? memopt_requantize(value, p->above_multiplier, p->above_shift)
                            : memopt_requantize(value, p->below_multiplier, p->below_shift);
  return (int16_t)memopt_clamp(steps + p->output_zero_point, p->act_min, p->act_max);
}

/* `output` may be `input`. */
KERNEL {
  MEMOPT_EACH(int16_t, p, rectified_s16(p, x));
}
