/* Products of int8 with packed weights, see memopt_packed_s8.h, whose columns stay bytes.
 *
 * A column has half the bytes, and is widened again for every block of four channels: of four taps
 * the word of pixel 0, then that of pixel 1; of a last pixel alone its word. So the bytes of one
 * pixel are a column as they lie in memory.
 */
#ifndef MEMOPT_NARROW_S8_H
#define MEMOPT_NARROW_S8_H

#include "memopt_packed_s8.h"

#if MEMOPT_ASM_BLOCK
/* Half a step: two taps, `how` widens them, of two pixels and four channels. */
#define MEMOPT_NARROW_HALF(next, how)                                                         \
  "ldr.w r11, [r0, #4]\n ldr.w lr, [r1, #4]\n ldr.w r10, [r0]" next "\n ldr.w r12, [r1], #8\n" \
  "sxtb16.w r11, r11" how "\n sxtb16.w r10, r10" how "\n"                                     \
  "smlad r9, r11, lr, r9\n smlad r8, r10, lr, r8\n sxtb16.w lr, lr\n"                         \
  "smlad r4, r10, r12, r4\n smlad r5, r11, r12, r5\n sxtb16.w r12, r12\n"                     \
  "smlad r2, r10, r12, r2\n smlad r3, r11, r12, r3\n"                                         \
  "smlad r6, r10, lr, r6\n smlad r7, r11, lr, r7\n"

/* As memopt_blocks_2x4: eight steps of 128 bytes and 32 products, entered where as many are left as
 * do not fill a round. Loading a word again is as quick as moving it. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_narrow_2x4(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out0 __attribute__((unused)),
    int8_t *out1 __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(
      MEMOPT_ASM_BEGIN_2("and r10, r10, #56\n lsl r10, r10, #4\n", "8")
      MEMOPT_NARROW_HALF("", "") MEMOPT_NARROW_HALF(", #8", ", ror #8")
      MEMOPT_ASM_END_2);
}

/* The same of one pixel, eight steps of 76 bytes and 16 products; the column may be anywhere. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_narrow_1x4(
    const int8_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const int8_t *end __attribute__((unused)), int8_t *out __attribute__((unused)),
    int32_t z __attribute__((unused)), const uint32_t *w_end __attribute__((unused))) {
  __asm__(
      MEMOPT_ASM_BEGIN_1("and r7, r7, #28\n add r8, r7, r7, lsl #1\n add r7, r8, r7, lsl #4\n")
      "ldr.w r7, [r0], #4\n ldr.w r10, [r1, #4]\n ldr.w r11, [r1, #8]\n ldr.w r12, [r1, #12]\n"
      "ldr.w r9, [r1], #16\n sxtb16.w r8, r7, ror #8\n sxtb16.w r7, r7\n"
      MEMOPT_ASM_PRODUCTS_1
      MEMOPT_ASM_END_1);
}
#endif

/* A block of any kind of one pixel of a column of `pixels`. */
static MEMOPT_NOINLINE void memopt_narrow_block(const memopt_packed *p, int32_t kind,
                                                const int8_t *column, int32_t pixels,
                                                const uint32_t *w, int8_t *out) {
  const int32_t plain = kind == MEMOPT_PLAIN;
  int32_t sums[MEMOPT_BLOCK] = {0, 0, 0, 0};
  int32_t i, c;
  for (i = 0; i < p->taps; i += 4) {
    const uint32_t x = memopt_word(column);
    const uint32_t even = MEMOPT_EVEN_S8(x);
    const uint32_t odd = MEMOPT_ODD_S8(x);
    for (c = 0; c < MEMOPT_BLOCK; ++c) {
      const uint32_t first = plain ? w[c] : w[c / 2];
      const uint32_t second = plain ? first >> 8 : w[2 + c / 2];
      if (plain || c % 2 == 0) {
        sums[c] = memopt_smlad(even, memopt_sxtb16(first), sums[c]);
        sums[c] = memopt_smlad(odd, memopt_sxtb16(second), sums[c]);
      } else {
        sums[c] = memopt_smlad(even, first, memopt_smlad(odd, second, sums[c]));
      }
    }
    column += 4 * pixels;
    w += 4;
  }
  for (c = 1; c < MEMOPT_BLOCK && !plain; c += 2) {
    sums[c] = memopt_shift_right((int32_t)((uint32_t)sums[c] - (uint32_t)sums[c - 1]), 8);
  }
  memopt_finish_block(p, kind, sums, w, out);
}

/* All `channels`, a multiple of four, of the pixels of a column, two or, if `out1` is null, one; not
 * yet clamped. Of two pixels the column is aligned to words. */
static MEMOPT_NOINLINE void memopt_narrow_pixels(const memopt_packed *p, const int8_t *column,
                                                 int32_t channels, int8_t *out0, int8_t *out1) {
  const uint32_t *w = p->stream;
  int32_t left = channels / MEMOPT_BLOCK;
  int32_t block = 0;
  while (left > 0) {
    const int32_t kind = p->kinds == 0 ? MEMOPT_FUSED : p->kinds[block];
    int32_t alike = 1;
    while (alike < left && (p->kinds == 0 || p->kinds[block + alike] == kind)) {
      ++alike;
    }
    block += alike;
    left -= alike;
#if MEMOPT_ASM_BLOCK
    if (kind == MEMOPT_FUSED) {
      const int32_t z = 2 * p->zero_point + 1;
      const uint32_t *const w_end = w + alike * memopt_block_words(p);
      if (out1 == 0) {
        memopt_narrow_1x4(column, w, column + p->taps, out0, z, w_end);
      } else {
        memopt_narrow_2x4((const uint32_t *)(const void *)column, w,
                          (const uint32_t *)(const void *)(column + 2 * p->taps), out0, out1, z,
                          w_end);
        out1 += MEMOPT_BLOCK * alike;
      }
      out0 += MEMOPT_BLOCK * alike;
      w = w_end;
      continue;
    }
#endif
    for (; alike > 0; --alike) {
      memopt_narrow_block(p, kind, column, out1 == 0 ? 1 : 2, w, out0);
      out0 += MEMOPT_BLOCK;
      if (out1 != 0) {
        memopt_narrow_block(p, kind, column + 4, 2, w, out1);
        out1 += MEMOPT_BLOCK;
      }
      w += memopt_block_words(p);
    }
  }
}

#endif
