/* SOFTMAX over the last axis, int8 -> int8 (scale 1/256, zero point -128). A row is one vector. */
#include "memopt_softmax.h"

typedef struct {
  int32_t depth;
  int32_t entries; /* 1 to 256 */
  const int32_t *exponential;
} memopt_softmax_s8_params;

/* `output` may be `input`. */
MEMOPT_SMALL
KERNEL(scratch) {
  MEMOPT_SOFTMAX(int8_t, -128, int8_t, 8, -128, 127, p);
}
