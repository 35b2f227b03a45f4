/* SOFTMAX over the last axis, int16 -> int16 in Q0.15, by tables between whose entries are lines
 * (TensorFlow Lite, reference/softmax.h, SoftmaxInt16). A row is one vector. */
#include "memopt_softmax.h"

typedef struct {
  int32_t depth;
  int32_t multiplier, shift;  /* to 65535 / 10 steps of 1; see memopt_requantize */
  const int16_t *exponential; /* [513], exp from -10 to 0 */
  const int16_t *reciprocal;  /* [513], 1 / (1 + x) from 0 to 1 */
} memopt_softmax_s16_params;

static inline int32_t softmax_look_up(const int16_t *table, int32_t x) {
  const int32_t at = 256 + memopt_shift_right(x, 7);
  const int32_t slope = table[at + 1] - table[at];
  return table[at] + memopt_shift_right(slope * (x & 0x7F) + 64, 7);
}

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int16_t *input = (const int16_t *)memopt_in_row(rows, in, 0, row);
    int16_t *output = (int16_t *)memopt_out_row(rows, out, row);
    int32_t max = INT16_MIN;
    int32_t sum = 0; /* at least about 32767, of the largest element */
    int32_t zeros, scale, i;
    for (i = 0; i < p->depth; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    for (i = 0; i < p->depth; ++i) {
      const int32_t steps = memopt_requantize(input[i] - max, p->multiplier, p->shift) + 32767;
      output[i] = (int16_t)softmax_look_up(p->exponential, memopt_clamp(steps, -32768, 32767));
      sum += output[i];
    }
    zeros = memopt_leading_zeros((uint32_t)sum);
    scale = (int32_t)((((uint32_t)sum << (zeros - 1)) + (1u << 13)) >> 14) - (1 << 15) - (1 << 16);
    scale = softmax_look_up(p->reciprocal, memopt_clamp(scale, -32768, 32767));
    for (i = 0; i < p->depth; ++i) {
      const int32_t half = (int32_t)((uint32_t)1 << (30 - zeros));
      const int32_t part = memopt_shift_right(output[i] * scale + half, 31 - zeros);
      output[i] = (int16_t)memopt_clamp(part, 0, 32767);
    }
  }
}
