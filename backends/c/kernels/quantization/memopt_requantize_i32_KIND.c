/* KIND  TYPE     LEAST   MOST
 * s8    int8_t   -128    127
 * s16   int16_t  -32768  32767
 */
/* QUANTIZE, int32 to KIND of another scale. */
#include "memopt_requantize.h"

typedef struct {
  int32_t row_n;
  int32_t output_zero_point;
  int32_t multiplier, shift; /* positive: to the left */
} memopt_requantize_i32_KIND_params;

/* `output` may be `input`. */
KERNEL(scratch) {
  MEMOPT_STORED_AS(int32_t, TYPE, LEAST, MOST, p, memopt_fewer_bits(x, p->multiplier, p->shift));
}
