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
#else
#define MEMOPT_DEPTHWISE_COLUMN 0
#endif

#endif
