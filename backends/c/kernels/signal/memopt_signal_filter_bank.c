/* SignalFilterBank: sums of 64 bits over parts of a spectrum. */
#include "memopt_common.h"

typedef struct {
  int32_t channels;
  const int16_t *weights, *unweights;
  const int16_t *starts, *weight_starts, *widths; /* [channels + 1] */
} memopt_signal_filter_bank_params;

static inline uint64_t bank_product(int16_t weight, uint32_t x) {
  return (uint64_t)((int64_t)x * weight); /* below 2^47 */
}

MEMOPT_FAST
KERNEL(rows, scratch) {
  uint64_t *output = (uint64_t *)out;
  uint64_t after = 0;
  int32_t part, i;
  for (part = 0; part <= p->channels; ++part) {
    const uint32_t *x = (const uint32_t *)in[0] + p->starts[part];
    const int16_t *weights = p->weights + p->weight_starts[part];
    const int16_t *unweights = p->unweights + p->weight_starts[part];
    uint64_t sum = after;
    after = 0;
    for (i = 0; i < p->widths[part]; ++i) {
      sum += bank_product(weights[i], x[i]);
      after += bank_product(unweights[i], x[i]);
    }
    if (part > 0) {
      output[part - 1] = sum;
    }
  }
}
