/* MEAN over neighbouring axes, uint8: [rows][count][inner] to [rows][inner]. */
#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
  int32_t offset; /* count * the input's zero point */
  int32_t multiplier, shift; /* of the scales and 1 / count; as memopt_requantize takes them */
  int32_t output_zero_point;
  int32_t parts; /* see memopt_part */
} memopt_mean_u8_params;

MEMOPT_KERNEL void memopt_mean_u8(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_mean_u8_params *p = params;
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const int32_t *const before = part.before;
  int32_t *const sums = out;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *input = memopt_in_row(rows, in, 0, row);
    uint8_t *restrict output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      const uint8_t *x = input + i;
      int32_t sum = before ? before[i] : -p->offset;
      int32_t n;
      for (n = p->count / part.calls; n > 0; --n) {
        sum += *x;
        x += p->inner;
      }
      if (!part.last) {
        sums[i] = sum;
        continue;
      }
      sum = memopt_requantize(sum, p->multiplier, p->shift) + p->output_zero_point;
      output[i] = (uint8_t)memopt_clamp(sum, 0, 255);
    }
  }
}
