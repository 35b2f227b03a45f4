/* FULLY_CONNECTED, uint8, weights with a zero point of their own. A row is one sample. */
#include "memopt_common.h"

typedef struct {
  int32_t in_n, out_n;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t rounds_once; /* as TensorFlow Lite does */
  int32_t weights_zero_point;
  const uint8_t *weights;    /* [out_n][in_n] */
  const int32_t *bias;       /* [out_n] */
  const int32_t *multiplier; /* [1] */
  const int8_t *shift;       /* [1], as memopt_requantize or memopt_requantize_once takes it */
  int32_t parts;             /* see memopt_part: each is in_n / parts elements */
} memopt_fully_connected_u8_params;

MEMOPT_FAST
MEMOPT_KERNEL void memopt_fully_connected_u8(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_fully_connected_u8_params *p = (const memopt_fully_connected_u8_params *)params;
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const int32_t *const start = part.before ? (const int32_t *)part.before : p->bias;
  const int32_t run = p->in_n / part.calls;
  const uint8_t *weights = p->weights + (p->parts > 0 ? rows->out_begin * run : 0);
  int32_t *const sums = (int32_t *)out;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *x = (const uint8_t *)memopt_in_row(rows, in, 0, row);
    uint8_t *restrict output = (uint8_t *)memopt_out_row(rows, out, row);
    int32_t o;
    for (o = 0; o < p->out_n; ++o) {
      const uint8_t *w = weights + o * p->in_n;
      int32_t acc = start[o];
      int32_t i;
      for (i = 0; i < run; ++i) {
        acc += (x[i] - p->input_zero_point) * (w[i] - p->weights_zero_point);
      }
      if (!part.last) {
        sums[o] = acc;
        continue;
      }
      acc = p->rounds_once ? memopt_requantize_once(acc, p->multiplier[0], p->shift[0])
                           : memopt_requantize(acc, p->multiplier[0], p->shift[0]);
      acc += p->output_zero_point;
      output[o] = (uint8_t)memopt_clamp(acc, p->act_min, p->act_max);
    }
  }
}
