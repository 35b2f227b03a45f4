/* SignalPCAN: operands are channels, the noise in each of them, and parabolas of gain by noise. */
#include "memopt_common.h"

typedef struct {
  int32_t count;
  int32_t shift;
} memopt_signal_pcan_params;

static uint32_t pcan_gain(uint32_t noise, const int16_t *gains) {
  int32_t high = 2, fraction, value;
  if (noise <= 2) {
    return (uint32_t)gains[noise];
  }
  while (high < 32 && noise >> high) {
    ++high;
  }
  fraction = (int32_t)((high < 11 ? noise << (11 - high) : noise >> (high - 11)) & 0x3ff);
  gains += 4 * high - 6;
  value = memopt_shift_right(gains[2] * fraction, 5) + gains[1] * 32;
  value = (int32_t)((uint32_t)value * (uint32_t)fraction + (1u << 14));
  return (uint32_t)(int16_t)(memopt_shift_right(value, 15) + gains[0]);
}

KERNEL(rows, scratch) {
  const uint32_t *x = (const uint32_t *)in[0];
  const uint32_t *noise = (const uint32_t *)in[1];
  uint32_t *output = (uint32_t *)out;
  int32_t i;
  for (i = 0; i < p->count; ++i) {
    const uint32_t gain = pcan_gain(noise[i], (const int16_t *)in[2]);
    const uint32_t ratio = (uint32_t)(((uint64_t)x[i] * gain) >> p->shift);
    output[i] = ratio < 8192 ? (ratio * ratio) >> 20 : (ratio >> 6) - 64;
  }
}
