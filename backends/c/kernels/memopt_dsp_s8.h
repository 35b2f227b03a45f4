/* int8 in the DSP extension of a Cortex-M4, M7 or M55, where one instruction makes two products.
 *
 * -DMEMOPT_NO_DSP takes the portable loops. Both give the same sums: integers add exactly.
 */
#ifndef MEMOPT_DSP_S8_H
#define MEMOPT_DSP_S8_H

#include <stdint.h>

#if defined(__ARM_FEATURE_DSP) && !defined(MEMOPT_NO_DSP)
#define MEMOPT_DOT_DSP 1
#include <arm_acle.h>
#include <string.h>

/* Bytes 0 and 2 of four int8 as two int16, and bytes 1 and 3: any order will do for a dot
 * product as long as both factors use the same. */
static inline int16x2_t memopt_even_s8(uint32_t word) { return __sxtb16((int8x4_t)word); }

static inline int16x2_t memopt_odd_s8(uint32_t word) {
  int16x2_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(word));
  return result;
}

/* The same, added to two int16. */
static inline uint32_t memopt_add_even_s8(uint32_t sums, uint32_t word) {
  return (uint32_t)__sxtab16((int16x2_t)sums, (int8x4_t)word);
}

static inline uint32_t memopt_add_odd_s8(uint32_t sums, uint32_t word) {
  __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sums) : "r"(word));
  return sums;
}

static inline uint32_t memopt_load_s8x4(const int8_t *from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}
#else
#define MEMOPT_DOT_DSP 0
#endif

#endif
