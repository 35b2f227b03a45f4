/* QUANTIZE, int16 to int16 of another scale. */
#include "memopt_requantize.h"

typedef struct {
  int32_t row_n;
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* see memopt_requantize */
} memopt_requantize_s16_s16_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_requantize_s16_s16(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_requantize_s16_s16_params *p = (const memopt_requantize_s16_s16_params *)params;
  (void)scratch;
  MEMOPT_REQUANTIZE(int16_t, int16_t, -32768, 32767, p);
}
