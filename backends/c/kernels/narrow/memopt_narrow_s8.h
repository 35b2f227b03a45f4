/* Products of int8 with packed weights, see memopt_packed_s8.h, whose windows stay where they lie.
 *
 * A window is runs of bytes, widened again for every block of four channels; of two pixels each run
 * of the second one lies equally far behind that of the first.
 */
#ifndef MEMOPT_NARROW_S8_H
#define MEMOPT_NARROW_S8_H

#include "memopt_packed_s8.h"

/* Bytes that follow one another, a positive multiple of 4. Behind the last run is a null pointer. */
typedef struct {
  const int8_t *begin, *end;
} memopt_run;

#if MEMOPT_ASM_BLOCK
/* Half a step: two taps, `how` widens them, of two pixels and four channels. */
#define MEMOPT_NARROW_HALF(next, how)                                                         \
  "ldr.w r11, [sp, #8]\n ldr.w lr, [r1, #4]\n ldr.w r12, [r1], #8\n ldr.w r11, [r0, r11]\n"   \
  "ldr.w r10, [r0]" next "\n"                                                                 \
  "sxtb16 r11, r11" how "\n sxtb16 r10, r10" how "\n"                                     \
  "smlad r9, r11, lr, r9\n smlad r8, r10, lr, r8\n sxtb16 lr, lr\n"                         \
  "smlad r4, r10, r12, r4\n smlad r5, r11, r12, r5\n sxtb16 r12, r12\n"                     \
  "smlad r2, r10, r12, r2\n smlad r3, r11, r12, r3\n"                                         \
  "smlad r6, r10, lr, r6\n smlad r7, r11, lr, r7\n"

/* As MEMOPT_ASM_BLOCKS_2, of runs: four steps of 136 bytes and 32 products, entered where as many are
 * left of the run as do not fill a round. */
#define MEMOPT_NARROW_2(begin, finish)                                                        \
  ".syntax unified\n push {r0-r12, lr}\n"                                                     \
  "0:\n ldr r12, [sp]\n" begin                                                                \
  "2:\n ldm r12!, {r0, r10}\n cmp r0, #0\n beq.w 3f\n str r12, [sp, #4]\n"                    \
  "str r10, [sp, #48]\n sub r10, r0, r10\n and r10, r10, #12\n"                               \
  "add r10, r10, r10, lsl #4\n lsl r10, r10, #1\n .balign 4\n add pc, r10\n nop\n"            \
  "1:\n .rept 4\n"                                                                            \
  MEMOPT_NARROW_HALF("", "") MEMOPT_NARROW_HALF(", #4", ", ror #8")                           \
  ".endr\n ldr r10, [sp, #48]\n cmp r0, r10\n bne.w 1b\n ldr r12, [sp, #4]\n b.w 2b\n"        \
  "3:\n ldr r0, [sp, #60]\n"                                                                  \
  finish                                                                                      \
  "ldr r10, [sp, #56]\n ldr r11, [sp, #12]\n ldr r12, [sp, #64]\n"                            \
  MEMOPT_ASM_STORES_2                                                                         \
  "str r10, [sp, #56]\n str r11, [sp, #12]\n cmp r1, r12\n bne.w 0b\n"                        \
  "add sp, sp, #16\n pop {r4-r12, pc}\n"

/* Blocks of one pixel, eight steps of 76 bytes and 16 products. */
#define MEMOPT_NARROW_1(begin, finish)                                                        \
  ".syntax unified\n push {r0, r1, r3-r11, lr}\n mov lr, r2\n"                                \
  "0:\n ldr r8, [sp]\n" begin                                                                 \
  "2:\n ldm r8!, {r0, r2}\n cmp r0, #0\n beq.w 3f\n str r8, [sp, #4]\n"                       \
  "sub r7, r0, r2\n and r7, r7, #28\n add r8, r7, r7, lsl #1\n add r7, r8, r7, lsl #4\n"      \
  ".balign 4\n add pc, r7\n nop\n"                                                            \
  "1:\n .rept 8\n"                                                                            \
  "ldr.w r7, [r0], #4\n ldr.w r10, [r1, #4]\n ldr.w r11, [r1, #8]\n ldr.w r12, [r1, #12]\n"   \
  "ldr.w r9, [r1], #16\n sxtb16 r8, r7, ror #8\n sxtb16 r7, r7\n"                             \
  MEMOPT_ASM_PRODUCTS_1                                                                       \
  ".endr\n cmp r0, r2\n bne.w 1b\n ldr r8, [sp, #4]\n b.w 2b\n"                               \
  "3:\n ldr r0, [sp, #8]\n"                                                                   \
  finish                                                                                      \
  "ldr r12, [sp, #48]\n" MEMOPT_ASM_STORES_1                                                  \
  "cmp r1, r12\n bne.w 0b\n add sp, sp, #12\n pop {r4-r11, pc}\n"

/* As memopt_blocks_2x4, of runs. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_narrow_2x4(
    const memopt_run *runs __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int32_t apart __attribute__((unused)), int8_t *out0 __attribute__((unused)),
    int8_t *out1 __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_NARROW_2(MEMOPT_ASM_ZERO_2, MEMOPT_ASM_CHANNELS_2));
}

/* The same of one pixel. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_narrow_1x4(
    const memopt_run *runs __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int8_t *out __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_NARROW_1(MEMOPT_ASM_ZERO_1, MEMOPT_ASM_CHANNELS_1));
}
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
/* As memopt_narrow_2x4, of floats; z is the zero point. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_float_narrow_2x4(
    const memopt_run *runs __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int32_t apart __attribute__((unused)), int8_t *out0 __attribute__((unused)),
    int8_t *out1 __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_NARROW_2(MEMOPT_ASM_FLOAT_BIAS_2, MEMOPT_ASM_FLOATS_2));
}

/* The same of one pixel, as memopt_narrow_1x4. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_float_narrow_1x4(
    const memopt_run *runs __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int8_t *out __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_NARROW_1(MEMOPT_ASM_FLOAT_BIAS_1, MEMOPT_ASM_FLOATS_1));
}
#endif /* MEMOPT_ROUND_EVEN */
#endif

/* A block of any kind of one pixel, `apart` bytes behind the runs. */
static MEMOPT_NOINLINE void memopt_narrow_block(const memopt_packed *p, int32_t kind,
                                                const memopt_run *runs, int32_t apart,
                                                const uint32_t *w, int8_t *out) {
  const int32_t plain = kind == MEMOPT_PLAIN;
  int32_t sums[MEMOPT_BLOCK] = {0, 0, 0, 0};
  int32_t c;
#if MEMOPT_ROUND_EVEN
  const uint32_t *const begin = w;
  w += kind == MEMOPT_FLOAT ? MEMOPT_BLOCK : 0;
#endif /* MEMOPT_ROUND_EVEN */
  for (; runs->begin != 0; ++runs) {
    const int8_t *x;
    for (x = runs->begin; x != runs->end; x += 4) {
      const uint32_t word = memopt_word(x + apart);
      const uint32_t even = MEMOPT_EVEN_S8(word);
      const uint32_t odd = MEMOPT_ODD_S8(word);
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
      w += 4;
    }
  }
  for (c = 1; c < MEMOPT_BLOCK && !plain; c += 2) {
    sums[c] = memopt_shift_right((int32_t)((uint32_t)sums[c] - (uint32_t)sums[c - 1]), 8);
  }
#if MEMOPT_ROUND_EVEN
  if (kind == MEMOPT_FLOAT) {
    memopt_finish_float(p, sums, begin, out);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
  memopt_finish_block(p, kind, sums, w, out);
}

#if MEMOPT_ROUND_EVEN
/* As memopt_narrow_blocks, of floats. */
static inline void memopt_float_narrow(const memopt_packed *p, const memopt_run *runs,
                                       int32_t apart, const uint32_t *w, const uint32_t *w_end,
                                       int8_t *out0, int8_t *out1) {
#if MEMOPT_ASM_FLOAT
  if (out1 == 0) {
    memopt_float_narrow_1x4(runs, w, out0, p->zero_point, w_end);
  } else {
    memopt_float_narrow_2x4(runs, w, apart, out0, out1, p->zero_point, w_end);
  }
#else
  for (; w != w_end; w += memopt_block_words(p)) {
    memopt_narrow_block(p, MEMOPT_FLOAT, runs, 0, w, out0);
    out0 += MEMOPT_BLOCK;
    if (out1 != 0) {
      memopt_narrow_block(p, MEMOPT_FLOAT, runs, apart, w, out1);
      out1 += MEMOPT_BLOCK;
    }
  }
#endif
}
#endif /* MEMOPT_ROUND_EVEN */

/* The blocks from `w` to `w_end`, all of one kind, of the pixel whose window is `runs`, and of a second
 * one, that is `apart` bytes behind it, unless `out1` is null. */
static inline void memopt_narrow_blocks(const memopt_packed *p, int32_t kind,
                                        const memopt_run *runs, int32_t apart, const uint32_t *w,
                                        const uint32_t *w_end, int8_t *out0, int8_t *out1) {
#if MEMOPT_ROUND_EVEN
  kind = memopt_kind_of(p, kind);
  if (kind == MEMOPT_FLOAT) {
    memopt_float_narrow(p, runs, apart, w, w_end, out0, out1);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
#if MEMOPT_ASM_BLOCK
  if (!MEMOPT_WITH_OTHER_BLOCKS || kind == MEMOPT_FUSED) {
    const int32_t z = 2 * p->zero_point + 1;
    if (out1 == 0) {
      memopt_narrow_1x4(runs, w, out0, z, w_end);
    } else {
      memopt_narrow_2x4(runs, w, apart, out0, out1, z, w_end);
    }
    return;
  }
#endif
  for (; w != w_end; w += memopt_block_words(p)) {
    memopt_narrow_block(p, kind, runs, 0, w, out0);
    out0 += MEMOPT_BLOCK;
    if (out1 != 0) {
      memopt_narrow_block(p, kind, runs, apart, w, out1);
      out1 += MEMOPT_BLOCK;
    }
  }
}

/* All `channels` of those pixels; not yet clamped. */
static MEMOPT_NOINLINE void memopt_narrow_pixels(const memopt_packed *p, const memopt_run *runs,
                                                 int32_t apart, int32_t channels, int8_t *out0,
                                                 int8_t *out1) {
  MEMOPT_ALIKE_BLOCKS(p, channels, out0, out1,
                      memopt_narrow_blocks(p, kind, runs, apart, w, w_end, to0, to1));
}

#endif
