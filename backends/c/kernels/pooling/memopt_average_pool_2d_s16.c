/* AVERAGE_POOL_2D, int16, NHWC. Input and output have the same quantization. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
  int32_t parts; /* see memopt_part */
} memopt_average_pool_2d_s16_params;

/* The mean, rounded to nearest, ties away from zero. */
static inline int16_t average_pool_2d_s16(const memopt_average_pool_2d_s16_params *p, int32_t sum,
                                          int32_t count) {
  sum += sum > 0 ? count / 2 : -(count / 2);
  return (int16_t)memopt_clamp(sum / count, p->act_min, p->act_max);
}

KERNEL(scratch) {
  MEMOPT_AVERAGE_POOL_2D(int16_t, int32_t, average_pool_2d_s16, p);
}
