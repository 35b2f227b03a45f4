/* FULLY_CONNECTED, int8, per-tensor or per-axis multipliers. A row is one sample.
 *
 * `bias` is folded with the input's zero point as in memopt_conv_2d_s8.c. One
 * multiplier serves every output if `per_axis` is 0.
 */
#include "memopt_common.h"
#include "memopt_dot_s8.h"

#include <string.h>

typedef struct {
  int32_t in_n, out_n;
  int32_t output_zero_point;
  int32_t act_min, act_max;
  int32_t per_axis;
  int32_t parts;             /* see memopt_part: each is in_n / parts elements */
  const int8_t *weights;     /* [out_n][in_n] */
  const int32_t *bias;       /* [out_n] */
  const int32_t *multiplier; /* [out_n] or [1] */
  const int8_t *shift;       /* [out_n] or [1], as memopt_requantize takes it */
} memopt_fully_connected_s8_params;

MEMOPT_FAST
KERNEL {
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const int32_t *const start = part.before ? (const int32_t *)part.before : p->bias;
  const int8_t *weights = p->weights;
  memopt_dot_shape shape;
  memopt_finish finish;
  int32_t row;
  shape.x_step[0] = 0;
  shape.run = p->in_n / part.calls;
  shape.w_next = p->in_n;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = p->per_axis;
  if (p->parts > 0) {
    weights += rows->out_begin * shape.run;
  }
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = (const int8_t *)memopt_in_row(rows, in, 0, row);
    int8_t *restrict output = (int8_t *)memopt_out_row(rows, out, row);
    int32_t o = 0;
    while (o < p->out_n) {
      const int32_t left = p->out_n - o;
      const int32_t n = left < MEMOPT_TILE ? left : MEMOPT_TILE;
      int32_t acc[MEMOPT_TILE + 1];
      int32_t i;
      for (i = 0; i < n; ++i) {
        acc[i] = start[o + i];
      }
      acc[n] = 0;
      memopt_dot_1xn(input, weights + o * p->in_n, &shape, n, acc);
      if (!part.last) {
        memcpy((int32_t *)out + o, acc, (size_t)n * sizeof *acc);
        o += n;
        continue;
      }
      memopt_finish_s8(&finish, p->multiplier + o * p->per_axis, p->shift + o * p->per_axis, n,
                       acc, output + o);
      o += n;
    }
  }
}
