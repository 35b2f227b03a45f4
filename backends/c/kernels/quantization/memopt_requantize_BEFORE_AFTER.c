/* BEFORE  AFTER  FROM     TO       LEAST      MOST
 * s8      i32    int8_t   int32_t  INT32_MIN  INT32_MAX
 * s16     s8     int16_t  int8_t   -128       127
 * s16     s16    int16_t  int16_t  -32768     32767
 * s16     i32    int16_t  int32_t  INT32_MIN  INT32_MAX
 */
/* QUANTIZE, BEFORE to AFTER of another scale. `output` may be `input`, but where AFTER is larger. */
#include "memopt_requantize.h"

typedef struct {
  int32_t row_n;
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* see memopt_requantize */
} memopt_requantize_BEFORE_AFTER_params;

/* `output` may be `input`. */
KERNEL(scratch) {
  MEMOPT_REQUANTIZE(FROM, TO, LEAST, MOST, p);
}
