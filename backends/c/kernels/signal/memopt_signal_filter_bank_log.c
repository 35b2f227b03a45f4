/* SignalFilterBankLog: natural logarithms of channels, by a table of 128 lines. */
#include "memopt_common.h"

typedef struct {
  int32_t count;
  uint32_t scale;
  int32_t bits;
  const int16_t *corrections; /* [129]: of the logarithm to base 2 of 1 to 2, less a line */
} memopt_signal_filter_bank_log_params;

static uint32_t bank_log(const memopt_signal_filter_bank_log_params *p, uint32_t x) {
  int32_t power = 0, fraction, part, between;
  uint32_t log2;
  for (log2 = x; log2 > 1; log2 >>= 1) {
    ++power;
  }
  x -= (uint32_t)1 << power;
  fraction = (int32_t)(power < 16 ? x << (16 - power) : x >> (power - 16));
  part = fraction >> 9;
  between = (p->corrections[part + 1] - p->corrections[part]) * (fraction & 511);
  log2 = ((uint32_t)power << 16) + (uint32_t)(fraction + p->corrections[part]) +
         (uint32_t)memopt_shift_right(between, 16);
  return (p->scale * (uint32_t)(((uint64_t)45426 * log2 + 32768) >> 16) + 32768) >> 16;
}

KERNEL(rows, scratch) {
  const uint32_t *x = (const uint32_t *)in[0];
  int16_t *output = (int16_t *)out;
  int32_t i;
  for (i = 0; i < p->count; ++i) {
    const uint32_t value = x[i] << p->bits;
    const uint32_t log = value > 1 ? bank_log(p, value) : 0;
    output[i] = (int16_t)(log < 32767 ? log : 32767);
  }
}
