/* QUANTIZE, int16 to int32 of another scale. */
#include "memopt_requantize.h"

typedef struct {
  int32_t row_n;
  int32_t input_zero_point, output_zero_point;
  int32_t multiplier, shift; /* see memopt_requantize */
} memopt_requantize_s16_i32_params;

MEMOPT_KERNEL void memopt_requantize_s16_i32(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_requantize_s16_i32_params *p = (const memopt_requantize_s16_i32_params *)params;
  (void)scratch;
  MEMOPT_REQUANTIZE(int16_t, int32_t, INT32_MIN, INT32_MAX, p);
}
