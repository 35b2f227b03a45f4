/* AVERAGE_POOL_2D, float32, NHWC. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  float act_min, act_max;
  int32_t counted; /* elements of a window where padding counts, else 0 */
  int32_t parts; /* see memopt_part */
} memopt_average_pool_2d_f32_params;

static inline float average_pool_2d_f32(const memopt_average_pool_2d_f32_params *p, float sum,
                                        int32_t count) {
  return memopt_clamp_f32(sum / (float)(p->counted ? p->counted : count), p->act_min, p->act_max);
}

KERNEL(scratch) {
  MEMOPT_AVERAGE_POOL_2D(float, float, average_pool_2d_f32, p);
}
