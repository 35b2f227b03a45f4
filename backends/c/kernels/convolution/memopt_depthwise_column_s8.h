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

/* The same of two results, of `channels`, a multiple of four. A tap is three pointers: to the bytes of
 * each and to its weights. The first taps, `skip` bytes of code, are left out. */
typedef struct {
  const int8_t *const *taps; /* of MEMOPT_COLUMN_TWO */
  int32_t skip;
  const int32_t *bias;
  const int32_t *multiplier;
  int8_t *out0, *out1;
  int32_t zero_point, channels;
} memopt_depthwise_two;

#define MEMOPT_TWO_TAP_CODE 80

/* Nine taps, three words of the stack each, of the four channels from r12 on. */
#define MEMOPT_TWO_TAPS                                                                       \
  ".irp at, 0, 12, 24, 36, 48, 60, 72, 84, 96\n"                                              \
  "ldr.w r8, [sp, #\\at]\n ldr.w r9, [sp, #\\at + 4]\n ldr.w r10, [sp, #\\at + 8]\n"           \
  "ldr.w r8, [r8, r12]\n ldr.w r9, [r9, r12]\n ldr.w r10, [r10, r12]\n"                     \
  "sxtb16 lr, r10\n sxtb16 r11, r8\n smlabb r0, r11, lr, r0\n smlatt r2, r11, lr, r2\n"     \
  "sxtb16 r11, r9\n smlabb r4, r11, lr, r4\n smlatt r6, r11, lr, r6\n"                      \
  "sxtb16 r10, r10, ror #8\n sxtb16 r8, r8, ror #8\n sxtb16 r9, r9, ror #8\n"               \
  "smlabb r1, r8, r10, r1\n smlatt r3, r8, r10, r3\n"                                       \
  "smlabb r5, r9, r10, r5\n smlatt r7, r9, r10, r7\n .endr\n"

/* The taps are copied to the stack, whose pointer is one register more. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_depthwise_column_two(
    const memopt_depthwise_two *of __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r0, r4-r11, lr}\n sub sp, sp, #112\n ldr r1, [r0]\n mov r12, sp\n"
      "ldm r1!, {r2-r10}\n stm r12!, {r2-r10}\n ldm r1!, {r2-r10}\n stm r12!, {r2-r10}\n"
      "ldm r1!, {r2-r10}\n stm r12!, {r2-r10}\n mov r12, #0\n"
      "0:\n ldr r8, [sp, #112]\n ldr r9, [r8, #8]\n ldr lr, [r8, #4]\n add r9, r9, r12, lsl #2\n"
      "ldm r9, {r0-r3}\n mov r4, r0\n mov r5, r1\n mov r6, r2\n mov r7, r3\n"
      ".balign 4\n add pc, lr\n nop\n"
      MEMOPT_TWO_TAPS
      "ldr r11, [sp, #112]\n ldr r8, [r11, #12]\n add r8, r8, r12, lsl #2\n vldmia r8, {s4-s7}\n"
      "add r11, r11, #16\n ldm r11, {r8-r11}\n add r8, r8, r12\n add r9, r9, r12\n"
      "add r12, r12, #4\n"
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
      "qadd r0, r0, r10\n qadd r1, r1, r10\n qadd r2, r2, r10\n qadd r3, r3, r10\n"
      "qadd r4, r4, r10\n qadd r5, r5, r10\n qadd r6, r6, r10\n qadd r7, r7, r10\n"
      "ssat r0, #8, r0\n ssat r1, #8, r1\n ssat r2, #8, r2\n ssat r3, #8, r3\n"
      "ssat r4, #8, r4\n ssat r5, #8, r5\n ssat r6, #8, r6\n ssat r7, #8, r7\n"
      "strb r0, [r8]\n strb r1, [r8, #1]\n strb r2, [r8, #2]\n strb r3, [r8, #3]\n"
      "strb r4, [r9]\n strb r5, [r9, #1]\n strb r6, [r9, #2]\n strb r7, [r9, #3]\n"
      "cmp r12, r11\n bne.w 0b\n add sp, sp, #116\n pop {r4-r11, pc}\n");
}
#endif
#else
#define MEMOPT_DEPTHWISE_COLUMN 0
#endif

#endif
