/* KIND    TYPE     ZERO  RESULT   BITS  LEAST   MOST
 * u8      uint8_t  0     uint8_t  8     0       255
 * s8_s16  int8_t   -128  int16_t  16    -32768  32767
 */
/* SOFTMAX over the last axis, KIND, to the scale 1/2^BITS and the zero point LEAST. A row is one
 * vector. */
#include "memopt_softmax.h"

typedef struct {
  int32_t depth;
  int32_t entries; /* 1 to 256 */
  const int32_t *exponential;
} memopt_softmax_KIND_params;

KERNEL(scratch) {
  MEMOPT_SOFTMAX(TYPE, ZERO, RESULT, BITS, LEAST, MOST, p);
}
