/* LOGISTIC and TANH of int16 by one table, between whose entries are lines (TensorFlow Lite,
 * reference/integer_ops/logistic.h and tanh.h). `table` is about 1 / (1 + exp(-i / 24)) in
 * Q0.16 for i = 0 ... 255; x has 3 * 4096 steps of 1, results are in Q0.15. */
#ifndef MEMOPT_SIGMOID_S16_H
#define MEMOPT_SIGMOID_S16_H

#include "memopt_common.h"

/* A stored integer in such steps: `shift` is to the right. */
static inline int32_t memopt_in_units_s16(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t half = shift > 0 ? (int32_t)((uint32_t)1 << (shift - 1)) : 0;
  return memopt_shift_right(x * multiplier + half, shift);
}

static inline int16_t memopt_logistic_of_s16(const uint16_t *table, int32_t x) {
  const int32_t size = x < 0 ? -x : x;
  const int32_t at = memopt_shift_right(size, 9);
  int32_t found = 0x7FFF << 10;
  if (at < 255) {
    found = table[at] * 512 + (size & 0x1FF) * (table[at + 1] - table[at]);
  }
  found = x < 0 ? (1 << 25) - 1 - found : found;
  return (int16_t)memopt_shift_right(found + 512, 10);
}

static inline int16_t memopt_tanh_of_s16(const uint16_t *table, int32_t x) {
  const int32_t size = x < 0 ? -x : x;
  const int32_t at = memopt_shift_right(size, 8);
  int32_t found = 0xFFFF << 8;
  if (at < 255) {
    found = table[at] * 256 + (size & 0xFF) * (table[at + 1] - table[at]);
  }
  found -= 1 << 23;
  found = x < 0 ? -1 - found : found;
  return (int16_t)memopt_shift_right(found + 128, 8);
}

#endif
