/* Products of int8 with packed weights: two pixels times four channels at a time.
 *
 * Two channels share a halfword, h = 256 * w1 + w0. Multiplied with raw halfwords, S = 256 * A1 + A0
 * adds up; with their low bytes, A0: one unpacked word serves two channels and two taps. A1 =
 * (S - A0) >> 8, exact while |A1| < 2^23, which whoever packs proves of every channel.
 *
 * Taps come in fours, the missing ones with weights of zero. A column is two pixels widened to
 * int16, `taps` words: of four taps (0, 2) of pixel 0, (0, 2) of pixel 1, (1, 3) of pixel 0, of
 * pixel 1: bytes as SXTB16 takes them from a word. A last pixel alone has half as many words. A
 * stream is, for every block of four channels,
 * `taps` words of weights, of four taps (0, 2) of channels 0|1, of 2|3, (1, 3) of 0|1, of 2|3, then
 * two words for each channel and a word with a byte for each: what `memopt_block_kind` says.
 */
#ifndef MEMOPT_PACKED_S8_H
#define MEMOPT_PACKED_S8_H

#include "memopt_common.h"
#include "memopt_dsp_s8.h"

#include <string.h>

#define MEMOPT_BLOCK 4 /* channels */

/* 0 where all blocks of the network are FUSED, so that nothing is there for others. */
#define MEMOPT_WITH_OTHER_BLOCKS 1

/* What stands in a stream. FUSED: {2 * bias, multiplier}, {shift to the right - 1}, and the result is
 * sat8((r + (bias < 0 ? -1 : 0) + z * 2^(shift - 1)) >> shift), z = 2 * zero point + 1, which equals
 * the double rounding of memopt_requantize if |sum| < 2^30, shift >= 1, and nothing overflows.
 * PACKED: {bias, multiplier}, {shift as memopt_requantize takes it}. PLAIN: the same, and the weights
 * of four taps are four words of int8, one per channel. */
typedef enum { MEMOPT_FUSED, MEMOPT_PACKED, MEMOPT_PLAIN } memopt_block_kind;

#if MEMOPT_ROUND_EVEN
/* Rounded as ONNX does, with biases b and multipliers m that are floats. The weights of a block stand
 * behind four words with which its sums begin, {b0, 256 * b1 + b0, b2, 256 * b3 + b2}, and before
 * {m0, m1 / 256, m2, m3 / 256} and a word that is 0. What two channels share holds their biases too:
 * |A1 + b1| < 2^23. */
#define MEMOPT_FLOAT 3
#endif /* MEMOPT_ROUND_EVEN */

typedef struct {
  int32_t taps; /* of a column, a multiple of 4 */
  int32_t zero_point, act_min, act_max;
  int32_t full;           /* act_min and act_max are those of int8 */
  const uint32_t *stream;
  const uint8_t *kinds;   /* of each block; null if all are fused */
#if MEMOPT_ROUND_EVEN
  int32_t kind; /* of all blocks, if `kinds` is null */
#endif /* MEMOPT_ROUND_EVEN */
} memopt_packed;

/* Of a block in a stream. */
static inline int32_t memopt_block_words(const memopt_packed *p) {
  return p->taps + 2 * MEMOPT_BLOCK + 1;
}

static inline int32_t memopt_low(uint32_t word) { return (int16_t)(word & 0xffffu); }
static inline int32_t memopt_high(uint32_t word) { return (int16_t)(word >> 16); }

#if MEMOPT_DOT_DSP
static inline int32_t memopt_smlad(uint32_t a, uint32_t b, int32_t sum) {
  return __smlad((int16x2_t)a, (int16x2_t)b, sum);
}
static inline uint32_t memopt_sxtb16(uint32_t word) { return (uint32_t)memopt_even_s8(word); }
#else
static inline int32_t memopt_smlad(uint32_t a, uint32_t b, int32_t sum) {
  const uint32_t products = (uint32_t)(memopt_low(a) * memopt_low(b)) +
                            (uint32_t)(memopt_high(a) * memopt_high(b));
  return (int32_t)((uint32_t)sum + products);
}
static inline uint32_t memopt_sxtb16(uint32_t word) {
  const uint32_t low = (word & 0xffu) ^ 0x80u;
  const uint32_t high = (word >> 16 & 0xffu) ^ 0x80u;
  return ((low - 0x80u) & 0xffffu) | (high - 0x80u) << 16;
}
#endif

/* Twice the sum `sum2`, requantised and fused with the zero point, see MEMOPT_FUSED: base is
 * z * 2^shift1, and shift1 one less than the shift. */
static inline int32_t memopt_fused(int32_t sum2, int32_t multiplier, int32_t base, int32_t shift1) {
#if MEMOPT_DOT_DSP
  int32_t value;
  __asm__("smmlar %0, %1, %2, %3"
          : "=r"(value)
          : "r"(sum2), "r"(multiplier), "r"(base + (sum2 >> 31)));
  value >>= shift1;
  __asm__("ssat %0, #8, %1, asr #1" : "=r"(value) : "r"(value));
  return value;
#else
  const int64_t product = (int64_t)sum2 * multiplier + ((int64_t)1 << 31);
  const int32_t value = base - (sum2 < 0 ? 1 : 0) + (int32_t)memopt_shift_right_64(product, 32);
  return memopt_clamp(memopt_shift_right(value, shift1 + 1), -128, 127);
#endif
}

/* The sums of a block for one pixel of a column of `pixels`. */
static inline void memopt_block_sums(const uint32_t *column, int32_t pixels, int32_t taps,
                                     const uint32_t *w, int32_t plain,
                                     int32_t sums[MEMOPT_BLOCK]) {
  int32_t even0 = 0, even1 = 0, both0 = 0, both1 = 0;
  if (plain) {
    int32_t c;
    for (c = 0; c < MEMOPT_BLOCK; ++c) {
      const uint32_t *x = column;
      int32_t i;
      int32_t sum = 0;
      for (i = c; i < taps; i += MEMOPT_BLOCK) {
        sum = memopt_smlad(x[0], memopt_sxtb16(w[i]), sum);
        sum = memopt_smlad(x[pixels], memopt_sxtb16(w[i] >> 8), sum);
        x += 2 * pixels;
      }
      sums[c] = sum;
    }
    return;
  }
  for (; taps > 0; taps -= 2) {
    const uint32_t x = *column;
    both0 = memopt_smlad(x, w[0], both0);
    both1 = memopt_smlad(x, w[1], both1);
    even0 = memopt_smlad(x, memopt_sxtb16(w[0]), even0);
    even1 = memopt_smlad(x, memopt_sxtb16(w[1]), even1);
    column += pixels;
    w += 2;
  }
  sums[0] = even0;
  sums[1] = memopt_shift_right((int32_t)((uint32_t)both0 - (uint32_t)even0), 8);
  sums[2] = even1;
  sums[3] = memopt_shift_right((int32_t)((uint32_t)both1 - (uint32_t)even1), 8);
}

/* A block of any kind of one pixel from its sums, by what stands in the stream behind its weights. */
MEMOPT_SMALL
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_finish_block(const memopt_packed *p, int32_t kind,
                                                     const int32_t sums[MEMOPT_BLOCK],
                                                     const uint32_t *w, int8_t *out) {
  int32_t c;
  for (c = 0; c < MEMOPT_BLOCK; ++c) {
    const int32_t bias = (int32_t)w[2 * c];
    const int32_t multiplier = (int32_t)w[2 * c + 1];
    const int32_t shift = (int8_t)(w[2 * MEMOPT_BLOCK] >> 8 * c & 0xffu);
    if (kind == MEMOPT_FUSED) {
      const int32_t base = memopt_shift_left(2 * p->zero_point + 1, shift);
      out[c] = (int8_t)memopt_fused(2 * sums[c] + bias, multiplier, base, shift);
    } else {
      const int32_t value = memopt_requantize(bias + sums[c], multiplier, shift);
      out[c] = (int8_t)memopt_clamp(value + p->zero_point, -128, 127);
    }
  }
}

#if MEMOPT_ROUND_EVEN
/* A block of floats that begins at w, of one pixel, from its sums without biases. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void memopt_finish_float(const memopt_packed *p,
                                                const int32_t sums[MEMOPT_BLOCK],
                                                const uint32_t *w, int8_t *out) {
  const uint32_t *const multiplier = w + MEMOPT_BLOCK + p->taps;
  int32_t c;
  for (c = 0; c < MEMOPT_BLOCK; c += 2) {
    const int32_t low = sums[c] + (int32_t)w[c];
    const int32_t high = memopt_shift_left(sums[c + 1], 8) + (int32_t)(w[c + 1] - w[c]);
    const int32_t first = memopt_requantize_even(low, (int32_t)multiplier[c]);
    const int32_t second = memopt_requantize_even(high, (int32_t)multiplier[c + 1]);
    out[c] = (int8_t)memopt_clamp(first + p->zero_point, -128, 127);
    out[c + 1] = (int8_t)memopt_clamp(second + p->zero_point, -128, 127);
  }
}
#endif /* MEMOPT_ROUND_EVEN */

/* A block of any kind of one pixel. */
MEMOPT_SMALL
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_any_block(const memopt_packed *p, int32_t kind,
                                                  const uint32_t *column, int32_t pixels,
                                                  const uint32_t *w, int8_t *out) {
  int32_t sums[MEMOPT_BLOCK];
#if MEMOPT_ROUND_EVEN
  if (kind == MEMOPT_FLOAT) {
    memopt_block_sums(column, pixels, p->taps, w + MEMOPT_BLOCK, 0, sums);
    memopt_finish_float(p, sums, w, out);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
  memopt_block_sums(column, pixels, p->taps, w, kind == MEMOPT_PLAIN, sums);
  memopt_finish_block(p, kind, sums, w + p->taps, out);
}

#if MEMOPT_DOT_DSP && defined(__GNUC__) && defined(__thumb2__)
#define MEMOPT_ASM_BLOCK 1
#define MEMOPT_ASM_EVEN ", lsl #1" /* 2 * A0 */
#define MEMOPT_ASM_ODD ", asr #7"  /* 2 * A1 of 256 * A1 */
/* Two sums of one channel, which `doubled` doubles: its bias is added, they are multiplied and shifted
 * by the byte `at` behind; `next` words on is what follows the bias of the next one. */
#define MEMOPT_ASM_CHANNEL(v0, v1, doubled, at, next)                                         \
  "ldr r10, [r1, #4]\n ldrb r11, [r1, #" at "]\n ldr r12, [r1], #" next "\n"                  \
  "add " v0 ", r12, " v0 doubled "\n add " v1 ", r12, " v1 doubled "\n lsl r12, r0, r11\n"    \
  "add lr, r12, " v0 ", asr #31\n smmlar " v0 ", " v0 ", r10, lr\n"                           \
  "add lr, r12, " v1 ", asr #31\n smmlar " v1 ", " v1 ", r10, lr\n"                           \
  "asr " v0 ", " v0 ", r11\n asr " v1 ", " v1 ", r11\n"                                       \
  "ssat " v0 ", #8, " v0 ", asr #1\n ssat " v1 ", #8, " v1 ", asr #1\n"

/* All four: two words of each, then a byte of each. */
#define MEMOPT_ASM_CHANNELS_2                                                                 \
  "sub r4, r4, r2\n sub r5, r5, r3\n sub r8, r8, r6\n sub r9, r9, r7\n"                        \
  MEMOPT_ASM_CHANNEL("r2", "r3", MEMOPT_ASM_EVEN, "32", "8")                                  \
  MEMOPT_ASM_CHANNEL("r4", "r5", MEMOPT_ASM_ODD, "25", "8")                                   \
  MEMOPT_ASM_CHANNEL("r6", "r7", MEMOPT_ASM_EVEN, "18", "8")                                  \
  MEMOPT_ASM_CHANNEL("r8", "r9", MEMOPT_ASM_ODD, "11", "12")

/* Their bytes to r10 and r11, which move on. */
#define MEMOPT_ASM_STORES_2                                                                   \
  "strb r5, [r10, #1]\n strb r7, [r10, #2]\n strb r9, [r10, #3]\n strb r3, [r10], #4\n"       \
  "strb r4, [r11, #1]\n strb r6, [r11, #2]\n strb r8, [r11, #3]\n strb r2, [r11], #4\n"

#define MEMOPT_ASM_ZERO_2                                                                     \
  "mov r2, #0\n mov r3, #0\n mov r4, #0\n mov r5, #0\n"                                       \
  "mov r6, #0\n mov r7, #0\n mov r8, #0\n mov r9, #0\n"

/* Blocks from the column to the bytes, one after the other: `begin` of eight sums in r2 to r9, `finish`
 * to results there. Sixteen steps of 56 bytes, entered where as many are left as do not fill a round.
 * One LDR after the other costs a cycle where an LDRD costs three. GCC would spill: eight sums, four
 * factors, three pointers. */
#define MEMOPT_ASM_BLOCKS_2(begin, finish)                                                    \
  ".syntax unified\n push {r0-r11, lr}\n sub r10, r0, r2\n"                                  \
  "and r10, r10, #120\n rsb r10, r10, r10, lsl #3\n str r10, [sp, #4]\n"                     \
  "0:\n" begin ".balign 4\n add pc, r10\n nop\n 1:\n .rept 16\n"                            \
  "ldr.w r11, [r0, #4]\n ldr.w lr, [r1, #4]\n ldr.w r10, [r0], #8\n ldr.w r12, [r1], #8\n"  \
  "smlad r9, r11, lr, r9\n smlad r8, r10, lr, r8\n sxtb16 lr, lr\n"                          \
  "smlad r4, r10, r12, r4\n smlad r5, r11, r12, r5\n sxtb16 r12, r12\n"                      \
  "smlad r2, r10, r12, r2\n smlad r3, r11, r12, r3\n"                                        \
  "smlad r6, r10, lr, r6\n smlad r7, r11, lr, r7\n"                                          \
  ".endr\n ldr r10, [sp, #8]\n cmp r0, r10\n bne.w 1b\n ldr r0, [sp, #56]\n"                \
  finish                                                                                      \
  "ldr r10, [sp, #52]\n ldr r11, [sp, #12]\n ldr r12, [sp, #60]\n ldr r0, [sp]\n"           \
  MEMOPT_ASM_STORES_2                                                                         \
  "str r10, [sp, #52]\n str r11, [sp, #12]\n cmp r1, r12\n ldr r10, [sp, #4]\n bne.w 0b\n"  \
  "add sp, sp, #16\n pop {r4-r11, pc}\n"

__attribute__((naked, noinline, unused, aligned(4))) MEMOPT_ONCE void memopt_blocks_2x4(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out0 __attribute__((unused)),
    int8_t *out1 __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_ASM_BLOCKS_2(MEMOPT_ASM_ZERO_2, MEMOPT_ASM_CHANNELS_2));
}

/* Of one sum. */
#define MEMOPT_ASM_CHANNEL_1(v, doubled, at)                                                  \
  "ldrb r11, [r1, #" at "]\n ldm r1!, {r10, r12}\n"                                           \
  "add " v ", r10, " v doubled "\n lsl r10, r0, r11\n add r8, r10, " v ", asr #31\n"          \
  "smmlar " v ", " v ", r12, r8\n asr " v ", " v ", r11\n ssat " v ", #8, " v ", asr #1\n"

#define MEMOPT_ASM_CHANNELS_1                                                                 \
  "sub r4, r4, r3\n sub r6, r6, r5\n"                                                         \
  MEMOPT_ASM_CHANNEL_1("r3", MEMOPT_ASM_EVEN, "32")                                           \
  MEMOPT_ASM_CHANNEL_1("r4", MEMOPT_ASM_ODD, "25")                                            \
  MEMOPT_ASM_CHANNEL_1("r5", MEMOPT_ASM_EVEN, "18")                                           \
  MEMOPT_ASM_CHANNEL_1("r6", MEMOPT_ASM_ODD, "11")                                            \
  "add r1, r1, #4\n"

#define MEMOPT_ASM_STORES_1                                                                   \
  "strb r4, [lr, #1]\n strb r5, [lr, #2]\n strb r6, [lr, #3]\n strb r3, [lr], #4\n"

#define MEMOPT_ASM_ZERO_1 "mov r3, #0\n mov r4, #0\n mov r5, #0\n mov r6, #0\n"

/* Of taps in r7 and r8, and weights in r9 to r12. */
#define MEMOPT_ASM_PRODUCTS_1                                                                 \
  "smlad r4, r7, r9, r4\n sxtb16 r9, r9\n smlad r6, r7, r10, r6\n sxtb16 r10, r10\n"     \
  "smlad r3, r7, r9, r3\n smlad r5, r7, r10, r5\n"                                           \
  "smlad r4, r8, r11, r4\n sxtb16 r11, r11\n smlad r6, r8, r12, r6\n sxtb16 r12, r12\n"  \
  "smlad r3, r8, r11, r3\n smlad r5, r8, r12, r5\n"

/* Blocks of one pixel: the column and `jump` say how many bytes are left out at first; `loads` are those of
 * four taps and their weights, `begin` of its sums is in r3 to r6, LR is where its bytes go. */
#define MEMOPT_ASM_BLOCKS_1(jump, loads, begin, finish)                                       \
  ".syntax unified\n push {r0, r1, r4-r11, lr}\n sub r7, r0, r2\n" jump "str r7, [sp, #4]\n" \
  "mov lr, r3\n 0:\n" begin ".balign 4\n add pc, r7\n nop\n 1:\n .rept 8\n"                 \
  loads MEMOPT_ASM_PRODUCTS_1                                                                 \
  ".endr\n cmp r0, r2\n bne.w 1b\n ldr r0, [sp, #44]\n"                                      \
  finish                                                                                      \
  "ldr r12, [sp, #48]\n ldr r0, [sp]\n ldr r7, [sp, #4]\n"                                    \
  MEMOPT_ASM_STORES_1                                                                         \
  "cmp r1, r12\n bne.w 0b\n add sp, sp, #8\n pop {r4-r11, pc}\n"

/* Eight steps of 56 bytes and 16 products. LDM costs a cycle of nineteen more than one LDR after the
 * other, and four instructions of eighteen less. */
#define MEMOPT_ASM_SHORT_1(begin, finish)                                                     \
  MEMOPT_ASM_BLOCKS_1("and r7, r7, #56\n rsb r7, r7, r7, lsl #3\n",                           \
                      "ldm.w r0!, {r7, r8}\n ldm.w r1!, {r9-r12}\n", begin, finish)

/* Fused blocks of one pixel. */
__attribute__((naked, noinline, unused, aligned(4))) MEMOPT_ONCE void memopt_blocks_1x4(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out __attribute__((unused)),
    int32_t z __attribute__((unused)), const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_ASM_SHORT_1(MEMOPT_ASM_ZERO_1, MEMOPT_ASM_CHANNELS_1));
}
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
/* Sums of a block of floats, to begin with; r1 is where it begins. */
#define MEMOPT_ASM_FLOAT_BIAS_2                                                               \
  "ldm r1!, {r2, r4, r6, r8}\n mov r3, r2\n mov r5, r4\n mov r7, r6\n mov r9, r8\n"
#define MEMOPT_ASM_FLOAT_BIAS_1 "ldm r1!, {r3-r6}\n"

/* Four registers of the FPU from s`a` on: integers times multipliers, as integers again. */
#define MEMOPT_ASM_FLOAT_4(a, b, c, d, m0, m1, m2, m3)                                        \
  "vcvt.f32.s32 " a ", " a "\n vcvt.f32.s32 " b ", " b "\n"                                   \
  "vcvt.f32.s32 " c ", " c "\n vcvt.f32.s32 " d ", " d "\n"                                   \
  "vmul.f32 " a ", " a ", " m0 "\n vmul.f32 " b ", " b ", " m1 "\n"                           \
  "vmul.f32 " c ", " c ", " m2 "\n vmul.f32 " d ", " d ", " m3 "\n"                           \
  "vcvtr.s32.f32 " a ", " a "\n vcvtr.s32.f32 " b ", " b "\n"                                 \
  "vcvtr.s32.f32 " c ", " c "\n vcvtr.s32.f32 " d ", " d "\n"

/* The zero point, which is in r0, added; what a float became may be saturated. */
#define MEMOPT_ASM_FLOAT_ZERO(a, b, c, d)                                                     \
  "qadd " a ", " a ", r0\n qadd " b ", " b ", r0\n qadd " c ", " c ", r0\n"                  \
  "qadd " d ", " d ", r0\n ssat " a ", #8, " a "\n ssat " b ", #8, " b "\n"                  \
  "ssat " c ", #8, " c "\n ssat " d ", #8, " d "\n"

#define MEMOPT_ASM_FLOATS_2                                                                   \
  "sub r4, r4, r2\n sub r5, r5, r3\n sub r8, r8, r6\n sub r9, r9, r7\n"                      \
  "vldmia r1!, {s8-s12}\n"                                                                    \
  "vmov s0, s1, r2, r3\n vmov s2, s3, r4, r5\n vmov s4, s5, r6, r7\n vmov s6, s7, r8, r9\n"  \
  MEMOPT_ASM_FLOAT_4("s0", "s1", "s2", "s3", "s8", "s8", "s9", "s9")                          \
  MEMOPT_ASM_FLOAT_4("s4", "s5", "s6", "s7", "s10", "s10", "s11", "s11")                      \
  "vmov r2, r3, s0, s1\n vmov r4, r5, s2, s3\n vmov r6, r7, s4, s5\n vmov r8, r9, s6, s7\n"  \
  MEMOPT_ASM_FLOAT_ZERO("r2", "r3", "r4", "r5") MEMOPT_ASM_FLOAT_ZERO("r6", "r7", "r8", "r9")

#define MEMOPT_ASM_FLOATS_1                                                                   \
  "sub r4, r4, r3\n sub r6, r6, r5\n vldmia r1!, {s8-s12}\n"                                  \
  "vmov s0, s1, r3, r4\n vmov s2, s3, r5, r6\n"                                               \
  MEMOPT_ASM_FLOAT_4("s0", "s1", "s2", "s3", "s8", "s9", "s10", "s11")                        \
  "vmov r3, r4, s0, s1\n vmov r5, r6, s2, s3\n" MEMOPT_ASM_FLOAT_ZERO("r3", "r4", "r5", "r6")

/* As memopt_blocks_2x4, of floats; z is the zero point. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_float_blocks_2x4(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out0 __attribute__((unused)),
    int8_t *out1 __attribute__((unused)), int32_t z __attribute__((unused)),
    const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_ASM_BLOCKS_2(MEMOPT_ASM_FLOAT_BIAS_2, MEMOPT_ASM_FLOATS_2));
}

/* As memopt_blocks_1x4, of floats. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_float_blocks_1x4(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out __attribute__((unused)),
    int32_t z __attribute__((unused)), const uint32_t *w_end __attribute__((unused))) {
  __asm__(MEMOPT_ASM_SHORT_1(MEMOPT_ASM_FLOAT_BIAS_1, MEMOPT_ASM_FLOATS_1));
}
#endif /* MEMOPT_ROUND_EVEN */
#else
#define MEMOPT_ASM_BLOCK 0
#endif

#if MEMOPT_ROUND_EVEN
#define MEMOPT_ASM_FLOAT (MEMOPT_ASM_BLOCK && MEMOPT_EVEN_FPU)
/* The kind of the blocks of a call that gives one, if not all blocks are alike. */
static inline int32_t memopt_kind_of(const memopt_packed *p, int32_t kind) {
  return p->kinds == 0 ? p->kind : kind;
}

/* As memopt_blocks, of floats. */
static inline void memopt_float_blocks(const memopt_packed *p, const uint32_t *column,
                                       const uint32_t *w, const uint32_t *w_end, int8_t *out0,
                                       int8_t *out1) {
#if MEMOPT_ASM_FLOAT
  if (out1 == 0) {
    memopt_float_blocks_1x4(column, w, column + p->taps / 2, out0, p->zero_point, w_end);
  } else {
    memopt_float_blocks_2x4(column, w, column + p->taps, out0, out1, p->zero_point, w_end);
  }
#else
  const int32_t pixels = out1 == 0 ? 1 : 2;
  for (; w != w_end; w += memopt_block_words(p)) {
    memopt_any_block(p, MEMOPT_FLOAT, column, pixels, w, out0);
    out0 += MEMOPT_BLOCK;
    if (out1 != 0) {
      memopt_any_block(p, MEMOPT_FLOAT, column + 1, pixels, w, out1);
      out1 += MEMOPT_BLOCK;
    }
  }
#endif
}
#endif /* MEMOPT_ROUND_EVEN */

/* The blocks from `w` to `w_end`, all of one kind, of two pixels, or of one if `out1` is null. */
static inline void memopt_blocks(const memopt_packed *p, int32_t kind, const uint32_t *column,
                                 const uint32_t *w, const uint32_t *w_end, int8_t *out0,
                                 int8_t *out1) {
  const int32_t pixels = out1 == 0 ? 1 : 2;
#if MEMOPT_ROUND_EVEN
  kind = memopt_kind_of(p, kind);
  if (kind == MEMOPT_FLOAT) {
    memopt_float_blocks(p, column, w, w_end, out0, out1);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
#if MEMOPT_ASM_BLOCK
  if (!MEMOPT_WITH_OTHER_BLOCKS || kind == MEMOPT_FUSED) {
    const int32_t z = 2 * p->zero_point + 1;
    if (out1 == 0) {
      memopt_blocks_1x4(column, w, column + p->taps / 2, out0, z, w_end);
    } else {
      memopt_blocks_2x4(column, w, column + p->taps, out0, out1, z, w_end);
    }
    return;
  }
#endif
  for (; w != w_end; w += memopt_block_words(p)) {
    memopt_any_block(p, kind, column, pixels, w, out0);
    out0 += MEMOPT_BLOCK;
    if (out1 != 0) {
      memopt_any_block(p, kind, column + 1, pixels, w, out1);
      out1 += MEMOPT_BLOCK;
    }
  }
}

/* Statement `made` for the blocks from w to w_end, which are of one `kind`, until all `channels` of the
 * pixels at out0 and, unless it is null, out1 are there: their bytes go to to0 and to1, which is null
 * if out1 is. The last block may lack channels. */
#define MEMOPT_ALIKE_BLOCKS(p, channels, out0, out1, made)                                    \
  do {                                                                                        \
    const uint32_t *w = (p)->stream;                                                          \
    const uint8_t *kinds = MEMOPT_WITH_OTHER_BLOCKS ? (p)->kinds : 0;                         \
    int8_t last0[MEMOPT_BLOCK], last1[MEMOPT_BLOCK];                                          \
    while (channels > 0) {                                                                    \
      const int32_t whole = channels >= MEMOPT_BLOCK;                                         \
      const int32_t kind = kinds == 0 ? (int32_t)MEMOPT_FUSED : *kinds;                       \
      int8_t *to0 = last0;                                                                    \
      int8_t *to1 = last1;                                                                    \
      int32_t alike = kinds == 0 && whole ? channels / MEMOPT_BLOCK : 1;                      \
      const uint32_t *w_end;                                                                  \
      int32_t n;                                                                              \
      if (whole || out1 == 0) {                                                               \
        to1 = out1;                                                                           \
      }                                                                                       \
      if (whole) {                                                                            \
        to0 = out0;                                                                           \
      }                                                                                       \
      while (kinds != 0 && alike < channels / MEMOPT_BLOCK && kinds[alike] == kind) {         \
        ++alike;                                                                              \
      }                                                                                       \
      w_end = w + alike * memopt_block_words(p);                                              \
      made;                                                                                   \
      n = whole ? alike * MEMOPT_BLOCK : channels;                                            \
      if (!whole) {                                                                           \
        memcpy(out0, to0, (size_t)n);                                                         \
        if (out1 != 0) {                                                                      \
          memcpy(out1, to1, (size_t)n);                                                       \
        }                                                                                     \
      }                                                                                       \
      channels -= n;                                                                          \
      w = w_end;                                                                              \
      out0 += n;                                                                              \
      out1 += out1 == 0 ? 0 : n;                                                              \
      kinds += kinds == 0 ? 0 : alike;                                                        \
    }                                                                                         \
  } while (0)

/* All `channels` of the pixels of a column, two or, if `out1` is null, one; not yet clamped. They are of
 * several kinds, or no whole blocks. */
MEMOPT_SMALL
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_pixels(const memopt_packed *p, const uint32_t *column,
                                               int32_t channels, int8_t *out0, int8_t *out1) {
  MEMOPT_ALIKE_BLOCKS(p, channels, out0, out1,
                      memopt_blocks(p, kind, column, w, w_end, to0, to1));
}

#if MEMOPT_DOT_DSP
#define MEMOPT_EVEN_S8(word) ((uint32_t)memopt_even_s8(word))
#define MEMOPT_ODD_S8(word) ((uint32_t)memopt_odd_s8(word))
#else
#define MEMOPT_EVEN_S8(word) memopt_sxtb16(word)
#define MEMOPT_ODD_S8(word) memopt_sxtb16((word) >> 8)
#endif

static inline uint32_t memopt_word(const int8_t *from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

static inline uint32_t *memopt_widen_word(uint32_t *to, int32_t pixels, const int8_t *from) {
  const uint32_t word = memopt_word(from);
  to[0] = MEMOPT_EVEN_S8(word);
  to[pixels] = MEMOPT_ODD_S8(word);
  return to + 2 * pixels;
}

/* `n` bytes, a multiple of 4, of one pixel, into every `pixels`th word of a column. Returns what is
 * behind them. */
MEMOPT_SMALL
MEMOPT_ONCE MEMOPT_NOINLINE uint32_t *memopt_widen_1(uint32_t *to, int32_t pixels,
                                                     const int8_t *from, int32_t n) {
  for (; n >= 8; n -= 8) {
    to = memopt_widen_word(to, pixels, from);
    to = memopt_widen_word(to, pixels, from + 4);
    from += 8;
  }
  return n > 0 ? memopt_widen_word(to, pixels, from) : to;
}

/* All `n` bytes of one pixel into its column, then zeros. */
static inline void memopt_widen_sample(uint32_t *to, const int8_t *from, int32_t n) {
  const int32_t whole = n / 4 * 4;
  to = memopt_widen_1(to, 1, from, whole);
  if (whole < n) {
    int8_t last[4] = {0, 0, 0, 0};
    memcpy(last, from + whole, (size_t)(n - whole));
    memopt_widen_1(to, 1, last, 4);
  }
}

/* Two pixels whose windows are whole: `rows` under each, null where all are padding, the first pixel
 * `from` bytes behind their starts, the second `apart` bytes behind the first. Of each row `words`
 * bytes, a multiple of four, go into the column; then, of all rows, what is left, `rest` bytes of
 * each, put together as `taps` bytes of each pixel first, in `bytes`; null if nothing is left. */
typedef struct {
  const int8_t *const *rows;
  int32_t from, apart, words, count;
  int8_t *bytes;
  uint32_t zero; /* two taps of padding */
  int32_t rest, taps;
} memopt_windows;

#if MEMOPT_ASM_BLOCK
/* Steps of 40 bytes, entered as those of memopt_blocks_2x4; behind the last one if there are none. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_widen_windows(
    uint32_t *to __attribute__((unused)), const memopt_windows *of __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r1, r4-r11, lr}\n"
      "ldr r2, [r1, #4]\n ldr r3, [r1, #8]\n ldr r4, [r1, #12]\n ldr r5, [r1, #16]\n"
      "ldr lr, [r1, #20]\n ldr r1, [r1]\n"
      "0:\n rsb r11, r4, #0\n and r11, r11, #28\n add r11, r11, r11, lsl #2\n lsls r11, r11, #1\n"
      "cmp r4, #0\n it eq\n moveq r11, #320\n cbz r1, 2f\n"
      "1:\n ldr r6, [r1], #4\n cmp r6, #0\n beq.w 7f\n add r6, r6, r2\n"
      "2:\n add r12, r6, r4\n .balign 4\n add pc, r11\n nop\n"
      "3:\n .rept 8\n"
      "ldr.w r8, [r6, r3]\n ldr.w r7, [r6], #4\n sxtb16 r10, r8\n sxtb16 r9, r7\n"
      "sxtb16 r8, r8, ror #8\n sxtb16 r7, r7, ror #8\n str.w r10, [r0, #4]\n"
      "str.w r8, [r0, #12]\n str.w r7, [r0, #8]\n str.w r9, [r0], #16\n"
      ".endr\n cmp r6, r12\n bne.w 3b\n"
      "cmp lr, #0\n beq 5f\n ldr r10, [sp]\n ldr r9, [r10, #28]\n ldr r10, [r10, #32]\n"
      "4:\n ldrb r8, [r6, r3]\n ldrb r7, [r6], #1\n strb r8, [lr, r10]\n strb r7, [lr], #1\n"
      "subs r9, r9, #1\n bne 4b\n"
      "5:\n subs r5, r5, #1\n bne.w 1b\n"
      "cmp lr, #0\n beq 9f\n ldr r10, [sp]\n ldr r6, [r10, #20]\n ldr r3, [r10, #32]\n"
      "mov r4, r3\n mov r5, #1\n mov r1, #0\n mov lr, #0\n b.w 0b\n"
      "7:\n ldr r10, [sp]\n ldr r7, [r10, #24]\n add r12, r0, r4, lsl #2\n"
      "8:\n cmp r0, r12\n itt ne\n strne r7, [r0], #4\n bne 8b\n"
      "cmp lr, #0\n beq 5b\n ldr r9, [r10, #28]\n ldr r10, [r10, #32]\n"
      "10:\n strb r7, [lr, r10]\n strb r7, [lr], #1\n subs r9, r9, #1\n bne 10b\n b 5b\n"
      "9:\n add sp, sp, #4\n pop {r4-r11, pc}\n");
}
#else
/* `n` bytes of two pixels, a multiple of 4, into a column. Returns what is behind them. */
static inline uint32_t *memopt_widen_2(uint32_t *to, const int8_t *a, const int8_t *b, int32_t n) {
  memopt_widen_1(to, 2, a, n);
  return memopt_widen_1(to + 1, 2, b, n) - 1;
}

static inline void memopt_widen_windows(uint32_t *to, const memopt_windows *of) {
  int8_t *bytes = of->bytes;
  int32_t r, i;
  for (r = 0; r < of->count; ++r) {
    const int8_t *row = of->rows[r];
    if (row == 0) {
      for (i = 0; i < of->words; ++i) {
        *to++ = of->zero;
      }
      for (i = 0; bytes != 0 && i < of->rest; ++i) {
        bytes[i] = bytes[of->taps + i] = (int8_t)memopt_low(of->zero);
      }
    } else {
      row += of->from;
      to = memopt_widen_2(to, row, row + of->apart, of->words);
      for (i = 0; bytes != 0 && i < of->rest; ++i) {
        bytes[i] = row[of->words + i];
        bytes[of->taps + i] = row[of->apart + of->words + i];
      }
    }
    bytes += bytes == 0 ? 0 : of->rest;
  }
  if (bytes != 0) {
    memopt_widen_2(to, of->bytes, of->bytes + of->taps, of->taps);
  }
}
#endif

/* Clamp `n` results to what an activation leaves. */
MEMOPT_SMALL
MEMOPT_ONCE MEMOPT_NOINLINE void memopt_clamp_s8(int8_t *values, int32_t n, int32_t low,
                                                 int32_t high) {
  int8_t *const end = values + n;
  for (; values != end; ++values) {
    *values = (int8_t)memopt_clamp(*values, low, high);
  }
}

#endif
