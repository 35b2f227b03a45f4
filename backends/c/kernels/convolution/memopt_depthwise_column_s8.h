/* Depthwise windows of one column whose results an FPU rounds, on cores with the DSP extension:
 * four channels at a time, from the taps to the bytes.
 */
#ifndef MEMOPT_DEPTHWISE_COLUMN_S8_H
#define MEMOPT_DEPTHWISE_COLUMN_S8_H

#include "memopt_common.h"
#include "memopt_dsp_s8.h"
#include "memopt_mve_s8.h"

#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU && MEMOPT_DOT_DSP && !MEMOPT_MVE
#define MEMOPT_DEPTHWISE_COLUMN 1

/* `taps`, at least one, of each channel: in rows whose pointers are `step` bytes apart, from `at`
 * bytes on, or, of memopt_depthwise_column_near, in rows from `first` on that are so far apart. */
typedef struct {
  const void *first;
  int32_t step;
  int32_t at;
  const int8_t *w;
  int32_t w_row;
  int32_t taps;
  const int32_t *bias;
  const int32_t *multiplier; /* floats */
  int8_t *out;
  int32_t fours, zero_point;
} memopt_depthwise_column;

#define MEMOPT_COLUMN_FAR                                                                     \
  "ldr r10, [r4]\n ldr r11, [r7]\n add r4, r4, r5\n ldr r10, [r10, r6]\n add r7, r7, r8\n"
#define MEMOPT_COLUMN_NEAR "ldr r10, [r4]\n ldr r11, [r7]\n add r4, r4, r5\n add r7, r7, r8\n"
#define MEMOPT_COLUMN_PRODUCTS                                                                \
  "sxtb16 r12, r10\n sxtb16 lr, r11\n sxtb16 r10, r10, ror #8\n sxtb16 r11, r11, ror #8\n"     \
  "smlabb r0, r12, lr, r0\n smlatt r2, r12, lr, r2\n"                                         \
  "smlabb r1, r10, r11, r1\n smlatt r3, r10, r11, r3\n"

/* Two taps a round, entered in its middle where they are odd; `next` moves r4 and r6 to the next
 * four channels. */
#define MEMOPT_COLUMN_OF(loads, next)                                                         \
  ".syntax unified\n push {r4-r11, lr}\n sub sp, sp, #4\n str r0, [sp]\n mov r12, r0\n"        \
  "0:\n ldm r12, {r4-r9}\n ldr r10, [r12, #24]\n ldm r10!, {r0-r3}\n str r10, [r12, #24]\n"    \
  "tst r9, #1\n bne 2f\n"                                                                     \
  "1:\n" loads MEMOPT_COLUMN_PRODUCTS "2:\n" loads MEMOPT_COLUMN_PRODUCTS                      \
  "subs r9, r9, #2\n bgt 1b\n"                                                                \
  "ldr r12, [sp]\n add r11, r12, #28\n ldm r11, {r6, r7, r8, r9}\n"                            \
  "vldmia r6!, {s4-s7}\n vmov s0, s1, r0, r1\n vmov s2, s3, r2, r3\n"                          \
  "vcvt.f32.s32 s0, s0\n vcvt.f32.s32 s1, s1\n vcvt.f32.s32 s2, s2\n vcvt.f32.s32 s3, s3\n"     \
  "vmul.f32 s0, s0, s4\n vmul.f32 s1, s1, s5\n vmul.f32 s2, s2, s6\n vmul.f32 s3, s3, s7\n"     \
  "vcvtr.s32.f32 s0, s0\n vcvtr.s32.f32 s1, s1\n"                                             \
  "vcvtr.s32.f32 s2, s2\n vcvtr.s32.f32 s3, s3\n"                                             \
  "vmov r0, r1, s0, s1\n vmov r2, r3, s2, s3\n"                                               \
  "qadd r0, r0, r9\n qadd r1, r1, r9\n qadd r2, r2, r9\n qadd r3, r3, r9\n"                    \
  "ssat r0, #8, r0\n ssat r1, #8, r1\n ssat r2, #8, r2\n ssat r3, #8, r3\n"                    \
  "strb r1, [r7, #1]\n strb r2, [r7, #2]\n strb r3, [r7, #3]\n strb r0, [r7], #4\n"            \
  "subs r8, r8, #1\n stm r11, {r6, r7, r8}\n"                                                 \
  "ldr r4, [r12, #" next "]\n ldr r7, [r12, #12]\n add r4, r4, #4\n add r7, r7, #4\n"          \
  "str r4, [r12, #" next "]\n str r7, [r12, #12]\n bne.w 0b\n"                                \
  "add sp, sp, #4\n pop {r4-r11, pc}\n"

__attribute__((naked, noinline, unused)) static void memopt_depthwise_column_far(
    memopt_depthwise_column *of __attribute__((unused))) {
  __asm__(MEMOPT_COLUMN_OF(MEMOPT_COLUMN_FAR, "8"));
}

__attribute__((naked, noinline, unused)) static void memopt_depthwise_column_near(
    memopt_depthwise_column *of __attribute__((unused))) {
  __asm__(MEMOPT_COLUMN_OF(MEMOPT_COLUMN_NEAR, "0"));
}

#if MEMOPT_WITH_COLUMNS
#define MEMOPT_COLUMN_TWO 9 /* taps at most */

/* The same of two results: `taps` times two pointers to bytes, one for each, which move on with the
 * channels. */
typedef struct {
  const int8_t **first, **end;
  int32_t w_row;
  const int8_t *w;
  const int32_t *bias;
  const int32_t *multiplier;
  int8_t *out0, *out1;
  int32_t fours, zero_point;
} memopt_depthwise_two;

/* Four products with weights in r10 and r11, `between` the loads. */
#define MEMOPT_TWO_PRODUCTS(s0, s1, s2, s3, between)                                          \
  between "ldr r9, [r8], #4\n str r8, [r12], #4\n sxtb16 r8, r9, ror #8\n sxtb16 r9, r9\n" \
  "smlabb " s0 ", r9, r10, " s0 "\n smlatt " s2 ", r9, r10, " s2 "\n"                       \
  "smlabb " s1 ", r8, r11, " s1 "\n smlatt " s3 ", r8, r11, " s3 "\n"

/* A tap; s14 is w_row. */
#define MEMOPT_TWO_TAP                                                                        \
  "ldr r8, [r12]\n ldr r10, [lr]\n"                                                         \
  MEMOPT_TWO_PRODUCTS("r0", "r1", "r2", "r3", "sxtb16 r11, r10, ror #8\n sxtb16 r10, r10\n") \
  "ldr r8, [r12]\n"                                                                          \
  MEMOPT_TWO_PRODUCTS("r4", "r5", "r6", "r7", "vmov r9, s14\n add lr, lr, r9\n")

__attribute__((naked, noinline, unused)) static void memopt_depthwise_column_two(
    memopt_depthwise_two *of __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r0, r4-r11, lr}\n vldmia r0, {s12-s14}\n"
      "0:\n ldr r8, [sp]\n vmov r12, s12\n ldr lr, [r8, #12]\n ldr r9, [r8, #16]\n"
      "ldm r9!, {r0-r3}\n str r9, [r8, #16]\n add r10, lr, #4\n str r10, [r8, #12]\n"
      "mov r4, r0\n mov r5, r1\n mov r6, r2\n mov r7, r3\n vmov r9, s13\n sub r9, r9, r12\n"
      "tst r9, #8\n bne 2f\n"
      "1:\n" MEMOPT_TWO_TAP "2:\n" MEMOPT_TWO_TAP
      "vmov r8, s13\n cmp r12, r8\n bne 1b\n"
      "ldr r12, [sp]\n add r12, r12, #20\n ldm r12, {r8-r11}\n vldmia r8!, {s4-s7}\n"
      "vmov s0, s1, r0, r1\n vmov s2, s3, r2, r3\n vmov s8, s9, r4, r5\n vmov s10, s11, r6, r7\n"
      "vcvt.f32.s32 s0, s0\n vcvt.f32.s32 s1, s1\n vcvt.f32.s32 s2, s2\n vcvt.f32.s32 s3, s3\n"
      "vcvt.f32.s32 s8, s8\n vcvt.f32.s32 s9, s9\n vcvt.f32.s32 s10, s10\n"
      "vcvt.f32.s32 s11, s11\n"
      "vmul.f32 s0, s0, s4\n vmul.f32 s1, s1, s5\n vmul.f32 s2, s2, s6\n vmul.f32 s3, s3, s7\n"
      "vmul.f32 s8, s8, s4\n vmul.f32 s9, s9, s5\n vmul.f32 s10, s10, s6\n"
      "vmul.f32 s11, s11, s7\n"
      "vcvtr.s32.f32 s0, s0\n vcvtr.s32.f32 s1, s1\n vcvtr.s32.f32 s2, s2\n"
      "vcvtr.s32.f32 s3, s3\n vcvtr.s32.f32 s8, s8\n vcvtr.s32.f32 s9, s9\n"
      "vcvtr.s32.f32 s10, s10\n vcvtr.s32.f32 s11, s11\n"
      "vmov r0, r1, s0, s1\n vmov r2, r3, s2, s3\n vmov r4, r5, s8, s9\n vmov r6, r7, s10, s11\n"
      "ldr r12, [r12, #16]\n"
      "qadd r0, r0, r12\n qadd r1, r1, r12\n qadd r2, r2, r12\n qadd r3, r3, r12\n"
      "qadd r4, r4, r12\n qadd r5, r5, r12\n qadd r6, r6, r12\n qadd r7, r7, r12\n"
      "ssat r0, #8, r0\n ssat r1, #8, r1\n ssat r2, #8, r2\n ssat r3, #8, r3\n"
      "ssat r4, #8, r4\n ssat r5, #8, r5\n ssat r6, #8, r6\n ssat r7, #8, r7\n"
      "strb r1, [r9, #1]\n strb r2, [r9, #2]\n strb r3, [r9, #3]\n strb r0, [r9], #4\n"
      "strb r5, [r10, #1]\n strb r6, [r10, #2]\n strb r7, [r10, #3]\n strb r4, [r10], #4\n"
      "ldr r12, [sp]\n subs r11, r11, #1\n add r12, r12, #20\n stm r12, {r8-r11}\n bne.w 0b\n"
      "add sp, sp, #4\n pop {r4-r11, pc}\n");
}
#endif
#else
#define MEMOPT_DEPTHWISE_COLUMN 0
#endif

#endif
