/* QUANTIZE, int32 to int8 of another scale. */
#include "memopt_requantize.h"

typedef struct {
  int32_t row_n;
  int32_t output_zero_point;
  int32_t multiplier, shift; /* positive: to the left */
} memopt_requantize_i32_s8_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_requantize_i32_s8(const void *params, const memopt_rows *rows,
                                            const void *const *in, void *out, void *scratch) {
  const memopt_requantize_i32_s8_params *p = (const memopt_requantize_i32_s8_params *)params;
  (void)scratch;
  MEMOPT_STORED_AS(int32_t, int8_t, -128, 127, p, memopt_fewer_bits(x, p->multiplier, p->shift));
}
