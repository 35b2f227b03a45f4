/* KIND  TYPE     LEAST
 * s8    int8_t   -128
 * u8    uint8_t  0
 * s16   int16_t  -32768
 */
/* MAX_POOL_2D of KIND, NHWC. Input and output have the same quantization. */
#include "memopt_pool_2d.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
  int32_t parts; /* see memopt_part */
} memopt_max_pool_2d_KIND_params;

KERNEL(scratch) {
  MEMOPT_MAX_POOL_2D(TYPE, LEAST, p);
}
