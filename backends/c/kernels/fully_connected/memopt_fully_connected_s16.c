/* FULLY_CONNECTED, int16 with int8 weights. A row is one sample. */
#include "memopt_wide_sum_s16.h"

typedef struct {
  int32_t in_n, out_n;
  memopt_wide_sum_s16 sums; /* weights [out_n][in_n] */
} memopt_fully_connected_s16_params;

MEMOPT_FAST
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int16_t *x = (const int16_t *)memopt_in_row(rows, in, 0, row);
    int16_t *restrict output = (int16_t *)memopt_out_row(rows, out, row);
    int32_t o, i;
    for (o = 0; o < p->out_n; ++o) {
      const int8_t *w = p->sums.weights + o * p->in_n;
      int64_t acc = p->sums.bias[o];
      for (i = 0; i < p->in_n; ++i) {
        acc += x[i] * w[i];
      }
      output[o] = memopt_stored_s16(&p->sums, acc, o);
    }
  }
}
