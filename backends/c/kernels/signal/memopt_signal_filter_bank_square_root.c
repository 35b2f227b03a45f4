/* SignalFilterBankSquareRoot: rounded roots of 64 bits, shifted down by the second operand. */
#include "memopt_common.h"

typedef struct {
  int32_t count;
} memopt_signal_filter_bank_square_root_params;

static uint32_t bank_root_32(uint32_t value) {
  uint32_t bit = (uint32_t)1 << 30;
  uint32_t root = 0;
  while (bit > value) {
    bit >>= 2;
  }
  for (; bit > 0; bit >>= 2) {
    const uint32_t next = root + bit;
    root >>= 1;
    if (value >= next) {
      value -= next;
      root += bit;
    }
  }
  return root + (value > root && root != 0xffff);
}

static uint32_t bank_root_64(uint64_t value) {
  uint64_t bit = (uint64_t)1 << 62;
  uint64_t root = 0;
  while (bit > value) {
    bit >>= 2;
  }
  for (; bit > 0; bit >>= 2) {
    const uint64_t next = root + bit;
    root >>= 1;
    if (value >= next) {
      value -= next;
      root += bit;
    }
  }
  return (uint32_t)root + (value > root && root != 0xffffffff);
}

KERNEL(rows, scratch) {
  const uint64_t *x = (const uint64_t *)in[0];
  const int32_t bits = *(const int32_t *)in[1] & 31;
  uint32_t *output = (uint32_t *)out;
  int32_t i;
  for (i = 0; i < p->count; ++i) {
    output[i] = (x[i] >> 32 ? bank_root_64(x[i]) : bank_root_32((uint32_t)x[i])) >> bits;
  }
}
