/* SOFTMAX over the last axis, int8 -> int8 (scale 1/256, zero point -128). A row is one vector.
 *
 * `exponential[d]` is gemmlowp's exp_on_negative_values of -d steps of the input
 * scale times beta, in Q0.31, for every d that TensorFlow Lite does not cut off:
 * computed when this code was written (softmax.py), equal bit for bit.
 */
#include "memopt_softmax.h"

typedef struct {
  int32_t depth;
  int32_t entries; /* 1 to 256 */
  const int32_t *exponential;
} memopt_softmax_s8_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_softmax_s8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_softmax_s8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = memopt_in_row(rows, in, 0, row);
    int8_t *output = memopt_out_row(rows, out, row);
    int32_t max = -128;
    int32_t sum = 0; /* Q12.19; positive, for the largest element counts as one */
    int32_t zeros;
    int32_t scale;
    int32_t bits;
    int32_t i;
    for (i = 0; i < p->depth; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    for (i = 0; i < p->depth; ++i) {
      const int32_t below = max - input[i];
      if (below < p->entries) {
        sum += memopt_round_shift(p->exponential[below], 12);
      }
    }
    zeros = memopt_softmax_leading_zeros((uint32_t)sum);
    scale = memopt_softmax_reciprocal((int32_t)(((uint32_t)sum << zeros) - 0x80000000u));
    bits = 12 - zeros + 31 - 8;
    for (i = 0; i < p->depth; ++i) {
      const int32_t below = max - input[i];
      int32_t value = -128;
      if (below < p->entries && bits < 32) {
        value += memopt_round_shift(memopt_high_mul(scale, p->exponential[below]), bits);
      }
      output[i] = (int8_t)memopt_clamp(value, -128, 127);
    }
  }
}
