/* AVERAGE_POOL_2D, uint8, NHWC. Input and output have the same quantization. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
  int32_t parts; /* see memopt_part */
} memopt_average_pool_2d_u8_params;

/* The mean, rounded to nearest. */
static inline uint8_t average_pool_2d_u8(const memopt_average_pool_2d_u8_params *p, int32_t sum,
                                         int32_t count) {
  return (uint8_t)memopt_clamp((sum + count / 2) / count, p->act_min, p->act_max);
}

KERNEL(scratch) {
  MEMOPT_AVERAGE_POOL_2D(uint8_t, int32_t, average_pool_2d_u8, p);
}
