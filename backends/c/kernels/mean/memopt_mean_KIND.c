/* KIND  TYPE     LEAST   MOST
 * u8    uint8_t  0       255
 * s16   int16_t  -32768  32767
 */
/* MEAN over neighbouring axes, KIND: [rows][count][inner] to [rows][inner]. */
#include "memopt_mean.h"

typedef struct {
  int32_t count, inner;
  int32_t offset; /* count * the input's zero point */
  int32_t multiplier, shift; /* of the scales and 1 / count; as memopt_requantize takes them */
  int32_t output_zero_point;
  int32_t parts; /* see memopt_part */
} memopt_mean_KIND_params;

static inline TYPE mean_KIND(const memopt_mean_KIND_params *p, int32_t sum) {
  return MEMOPT_STORED_MEAN(TYPE, LEAST, MOST, p, sum);
}

KERNEL(scratch) {
  MEMOPT_MEAN(TYPE, mean_KIND, p);
}
