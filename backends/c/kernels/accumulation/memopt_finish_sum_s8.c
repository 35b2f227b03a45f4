/* Sums of int8 products that several operators have added up in 32 bits, to int8: the bias, a
 * multiplier per channel, the activation. The result may lie over the sums, where they begin: it is
 * written behind what is read.
 */
#include "memopt_common.h"

typedef struct {
  int32_t row_n, channels; /* channels are last */
  int32_t output_zero_point;
  int32_t act_min, act_max;
  const int32_t *bias;       /* [channels] */
  const int32_t *multiplier; /* [channels] */
  const int8_t *shift;       /* [channels], as memopt_requantize takes it */
} memopt_finish_sum_s8_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t *sums = (const int32_t *)memopt_in_row(rows, in, 0, row);
    const int32_t *const end = sums + p->row_n;
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    while (sums != end) {
      int32_t c;
      for (c = 0; c < p->channels; ++c) {
        const int32_t value = memopt_requantize(*sums++ + p->bias[c], p->multiplier[c],
                                                p->shift[c]) + p->output_zero_point;
        *output++ = (int8_t)memopt_clamp(value, p->act_min, p->act_max);
      }
    }
  }
}
