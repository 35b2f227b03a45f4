/* SignalFftAutoScale: the call of part 1 writes the exponent, into scratch too; that of part 0 scales
 * by it. */
#include "memopt_common.h"

typedef struct {
  int32_t part;
  int32_t count;
} memopt_signal_fft_auto_scale_params;

KERNEL(rows) {
  const int16_t *x = (const int16_t *)in[0];
  int32_t *const exponent = (int32_t *)scratch;
  int32_t i;
  if (p->part == 1) {
    int32_t greatest = 0;
    for (i = 0; i < p->count; ++i) {
      if (x[i] > greatest || x[i] == -32768) {
        greatest = x[i]; /* -32768 is its own absolute value */
      } else if (-x[i] > greatest) {
        greatest = -x[i];
      }
    }
    *exponent = 0;
    if (greatest > 0) {
      for (; greatest < 16384; greatest *= 2) {
        ++*exponent;
      }
    }
    *(int32_t *)out = *exponent;
  } else {
    int16_t *output = (int16_t *)out;
    for (i = 0; i < p->count; ++i) {
      output[i] = (int16_t)(x[i] * (1 << *exponent));
    }
  }
}
