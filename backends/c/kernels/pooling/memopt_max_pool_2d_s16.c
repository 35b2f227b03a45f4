/* MAX_POOL_2D, int16, NHWC. Input and output have the same quantization. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
  int32_t parts; /* see memopt_part */
} memopt_max_pool_2d_s16_params;

MEMOPT_KERNEL void memopt_max_pool_2d_s16(const void *params, const memopt_rows *rows,
                                          const void *const *in, void *out, void *scratch) {
  const memopt_max_pool_2d_s16_params *p = (const memopt_max_pool_2d_s16_params *)params;
  (void)scratch;
  MEMOPT_MAX_POOL_2D(int16_t, -32768, p);
}
