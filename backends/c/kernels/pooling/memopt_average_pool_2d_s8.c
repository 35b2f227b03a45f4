/* AVERAGE_POOL_2D, int8, NHWC. Input and output have the same quantization, but where the mean is
 * rounded as ONNX's. */
#include "memopt_average_pool_2d_s8.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
#if MEMOPT_ROUND_EVEN
  double scale; /* of the input; 0 where the mean is not rounded to even */
  float output_scale;
  int32_t input_zero_point, output_zero_point;
#endif
  int32_t parts; /* see memopt_part */
} memopt_average_pool_2d_s8_params;

/* The mean, rounded to nearest, ties away from zero, or to even. */
static inline int8_t average_pool_2d_s8(const memopt_average_pool_2d_s8_params *p, int32_t sum,
                                        int32_t count) {
#if MEMOPT_ROUND_EVEN
  if (p->scale > 0) {
    const int32_t less = sum - count * p->input_zero_point;
    const int32_t steps = memopt_mean_even(less, count, p->scale, p->output_scale);
    return (int8_t)memopt_clamp(steps + p->output_zero_point, p->act_min, p->act_max);
  }
#endif
  sum += sum > 0 ? count / 2 : -(count / 2);
  return (int8_t)memopt_clamp(sum / count, p->act_min, p->act_max);
}

MEMOPT_SMALL
KERNEL {
  MEMOPT_AVERAGE_POOL_2D_S8(average_pool_2d_s8, p);
}
