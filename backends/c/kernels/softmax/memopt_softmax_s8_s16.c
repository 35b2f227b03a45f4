/* SOFTMAX over the last axis, int8 -> int16 (scale 1/65536, zero point -32768). A row is one vector. */
#include "memopt_softmax.h"

typedef struct {
  int32_t depth;
  int32_t entries; /* 1 to 256 */
  const int32_t *exponential;
} memopt_softmax_s8_s16_params;

MEMOPT_KERNEL void memopt_softmax_s8_s16(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_softmax_s8_s16_params *p = (const memopt_softmax_s8_s16_params *)params;
  (void)scratch;
  MEMOPT_SOFTMAX(int8_t, -128, int16_t, 16, -32768, 32767, p);
}
