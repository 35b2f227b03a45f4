/* SOFTMAX over the last axis, uint8 -> uint8 (scale 1/256, zero point 0). A row is one vector. */
#include "memopt_softmax.h"

typedef struct {
  int32_t depth;
  int32_t entries; /* 1 to 256 */
  const int32_t *exponential;
} memopt_softmax_u8_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_softmax_u8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_softmax_u8_params *p = (const memopt_softmax_u8_params *)params;
  (void)scratch;
  MEMOPT_SOFTMAX(uint8_t, 0, uint8_t, 8, 0, 255, p);
}
