/* A 3x3 window over one channel whose columns are packed: nine products in five instructions.
 *
 * Two columns, 2i and 2i + 1, are three words: va and vb, rows 0 and 1 of each as int16, and u, row
 * 2 of both. The stream of a channel are seven words: the nine weights as SXTB16 takes them from
 * three, {A.0, B.0, A.1, B.1}, {C.0, D.0, C.1, D.1}, {E.0, 0, E.1, 0}, with A = (w00, w10),
 * B = (w01, w11), C = (w02, w12), D = (w20, w21), E = (w21, w22); then {2 * bias, multiplier,
 * shift - 1, (2 * zero point + 1) * 2^(shift - 1)} of a fused channel, see memopt_packed_s8.h, or
 * {bias, multiplier, shift, 0} as memopt_requantize takes them.
 */
#ifndef MEMOPT_COLUMNS_3X3_S8_H
#define MEMOPT_COLUMNS_3X3_S8_H

#include "memopt_packed_s8.h"

#define MEMOPT_COLUMNS_WORDS 7 /* of a channel in the stream */

static inline uint32_t memopt_pack_low(uint32_t a, uint32_t b) {
  return (a & 0xffffu) | b << 16;
}
static inline uint32_t memopt_pack_high(uint32_t a, uint32_t b) {
  return a >> 16 | (b & 0xffff0000u);
}

/* Two columns of four channels, `per` words from one channel to the next; a: the first column in
 * rows 0, 1, 2, b: the second. */
static inline void memopt_pack_columns(uint32_t *to, int32_t per, const uint32_t a[3],
                                       const uint32_t b[3]) {
  const uint32_t al = memopt_pack_low(a[0], a[1]), ah = memopt_pack_high(a[0], a[1]);
  const uint32_t bl = memopt_pack_low(b[0], b[1]), bh = memopt_pack_high(b[0], b[1]);
  const uint32_t ul = memopt_pack_low(a[2], b[2]), uh = memopt_pack_high(a[2], b[2]);
  to[0] = MEMOPT_EVEN_S8(al);
  to[1] = MEMOPT_EVEN_S8(bl);
  to[2] = MEMOPT_EVEN_S8(ul);
  to += per;
  to[0] = MEMOPT_ODD_S8(al);
  to[1] = MEMOPT_ODD_S8(bl);
  to[2] = MEMOPT_ODD_S8(ul);
  to += per;
  to[0] = MEMOPT_EVEN_S8(ah);
  to[1] = MEMOPT_EVEN_S8(bh);
  to[2] = MEMOPT_EVEN_S8(uh);
  to += per;
  to[0] = MEMOPT_ODD_S8(ah);
  to[1] = MEMOPT_ODD_S8(bh);
  to[2] = MEMOPT_ODD_S8(uh);
}

/* One channel of a row in any kind: `pairs` times two results from two columns on, then `singles`
 * times one; `step` bytes from one to the next. */
static MEMOPT_NOINLINE void memopt_any_columns(int32_t fused, int32_t zero_point,
                                               const uint32_t *columns, const uint32_t *w,
                                               int8_t *out, int32_t step, int32_t pairs,
                                               int32_t singles) {
  const uint32_t a = memopt_sxtb16(w[0]), b = memopt_sxtb16(w[0] >> 8);
  const uint32_t c = memopt_sxtb16(w[1]), d = memopt_sxtb16(w[1] >> 8);
  const uint32_t e = memopt_sxtb16(w[2]);
  const int32_t results = 2 * pairs + singles;
  int32_t i;
  for (i = 0; i < results; ++i) {
    int32_t sum;
    if (i >= 2 * pairs || i % 2 == 0) {
      sum = memopt_smlad(columns[3], c, memopt_smlad(columns[2], d, 0));
      sum = memopt_smlad(columns[1], b, memopt_smlad(columns[0], a, sum));
      sum += memopt_low(columns[5]) * memopt_high(e);
    } else {
      sum = memopt_smlad(columns[4], c, memopt_smlad(columns[5], e, 0));
      sum = memopt_smlad(columns[3], b, memopt_smlad(columns[1], a, sum));
      sum += memopt_high(columns[2]) * memopt_low(d);
    }
    if (fused) {
      sum = memopt_fused(2 * sum + (int32_t)w[3], (int32_t)w[4], (int32_t)w[6], (int32_t)w[5]);
    } else {
      sum = memopt_requantize(sum + (int32_t)w[3], (int32_t)w[4], (int32_t)w[5]) + zero_point;
      sum = memopt_clamp(sum, -128, 127);
    }
    *out = (int8_t)sum;
    out += step;
    columns += i >= 2 * pairs || i % 2 == 1 ? 3 : 0;
  }
}

#if MEMOPT_ASM_BLOCK
/* Numbers for which there is no register: in those of the FPU, else on the stack. */
#if defined(__ARM_FP)
#define MEMOPT_ASM_PUT(n, r) "vmov s" #n ", " r "\n "
#define MEMOPT_ASM_GET(r, n) "vmov " r ", s" #n "\n "
#else
#define MEMOPT_ASM_PUT(n, r) "str " r ", [sp, #4 * " #n "]\n "
#define MEMOPT_ASM_GET(r, n) "ldr " r ", [sp, #4 * " #n "]\n "
#endif
#define MEMOPT_ASM_NEXT "ldr r4, [r0, #4]\n ldr r5, [r0, #8]\n ldr r3, [r0], #12\n "

/* Two results, at the first and the second of two columns: r3, r4, r5 are va, vb, u; r10, r11, r12,
 * lr, r1 are A to E, doubled. */
#define MEMOPT_ASM_PAIR                                                                     \
  MEMOPT_ASM_GET("r6", 0) MEMOPT_ASM_GET("r7", 0)                                           \
  "smlad r6, r3, r10, r6\n smlad r7, r4, r10, r7\n smlad r6, r4, r11, r6\n"                 \
  "smlatb r7, r5, lr, r7\n smlad r6, r5, lr, r6\n " MEMOPT_ASM_NEXT                         \
  "smlad r6, r3, r12, r6\n smlad r7, r3, r11, r7\n smlabt r6, r5, r1, r6\n"                 \
  "smlad r7, r4, r12, r7\n smlad r7, r5, r1, r7\n"                                          \
  MEMOPT_ASM_GET("r8", 3) MEMOPT_ASM_GET("r9", 1)                                           \
  "add r8, r8, r6, asr #31\n smmlar r6, r6, r9, r8\n " MEMOPT_ASM_GET("r8", 3)              \
  "add r8, r8, r7, asr #31\n smmlar r7, r7, r9, r8\n " MEMOPT_ASM_GET("r9", 2)              \
  "asr r6, r9\n asr r7, r9\n ssat r6, #8, r6, asr #1\n ssat r7, #8, r7, asr #1\n"           \
  MEMOPT_ASM_GET("r8", 4) "strb r6, [r2]\n strb r7, [r2, r8]\n add r2, r2, r8, lsl #1\n"

#define MEMOPT_ASM_SINGLE                                                                   \
  MEMOPT_ASM_GET("r6", 0)                                                                   \
  "smlad r6, r3, r10, r6\n smlad r6, r4, r11, r6\n smlad r6, r5, lr, r6\n " MEMOPT_ASM_NEXT \
  "smlad r6, r3, r12, r6\n smlabt r6, r5, r1, r6\n"                                         \
  MEMOPT_ASM_GET("r8", 3) MEMOPT_ASM_GET("r9", 1)                                           \
  "add r8, r8, r6, asr #31\n smmlar r6, r6, r9, r8\n " MEMOPT_ASM_GET("r9", 2)              \
  "asr r6, r9\n ssat r6, #8, r6, asr #1\n " MEMOPT_ASM_GET("r8", 4)                         \
  "strb r6, [r2]\n add r2, r2, r8\n"

/* The same of a fused channel. Two pairs a round, entered at the second where they are odd. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_fused_columns(
    const uint32_t *columns __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int8_t *out __attribute__((unused)), int32_t step __attribute__((unused)),
    int32_t pairs __attribute__((unused)), int32_t singles __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r4-r11, lr}\n sub sp, sp, #32\n"
      "ldr r4, [r1, #12]\n ldr r5, [r1, #16]\n ldr r6, [r1, #20]\n ldr r7, [r1, #24]\n"
      MEMOPT_ASM_PUT(0, "r4") MEMOPT_ASM_PUT(1, "r5") MEMOPT_ASM_PUT(2, "r6")
      MEMOPT_ASM_PUT(3, "r7") MEMOPT_ASM_PUT(4, "r3")
      "ldr r9, [sp, #68]\n ldr r5, [sp, #72]\n"
      "add r6, r9, r9, lsl #1\n add r7, r0, r6, lsl #2\n add r7, r7, #12\n"
      MEMOPT_ASM_PUT(5, "r7")
      "add r6, r5, r5, lsl #1\n add r6, r7, r6, lsl #2\n"
      MEMOPT_ASM_PUT(6, "r6")
      "ldr r6, [r1]\n ldr r7, [r1, #4]\n ldr r8, [r1, #8]\n"
      "sxtb16 r10, r6\n sxtb16 r11, r6, ror #8\n sxtb16 r12, r7\n sxtb16 lr, r7, ror #8\n"
      "sxtb16 r1, r8\n sadd16 r10, r10, r10\n sadd16 r11, r11, r11\n sadd16 r12, r12, r12\n"
      "sadd16 lr, lr, lr\n sadd16 r1, r1, r1\n"
      MEMOPT_ASM_NEXT
      "cmp r9, #0\n beq.w 3f\n tst r9, #1\n bne.w 2f\n"
      "1:\n " MEMOPT_ASM_PAIR
      "2:\n " MEMOPT_ASM_PAIR
      MEMOPT_ASM_GET("r8", 5) "cmp r0, r8\n bne.w 1b\n"
      "3:\n " MEMOPT_ASM_GET("r8", 6) "cmp r0, r8\n beq.w 5f\n"
      "4:\n " MEMOPT_ASM_SINGLE
      MEMOPT_ASM_GET("r8", 6) "cmp r0, r8\n bne.w 4b\n"
      "5:\n add sp, sp, #32\n pop {r4-r11, pc}\n");
}
#endif

static inline void memopt_columns(int32_t fused, int32_t zero_point, const uint32_t *columns,
                                  const uint32_t *w, int8_t *out, int32_t step, int32_t pairs,
                                  int32_t singles) {
#if MEMOPT_ASM_BLOCK
  if (fused) {
    memopt_fused_columns(columns, w, out, step, pairs, singles);
    return;
  }
#endif
  memopt_any_columns(fused, zero_point, columns, w, out, step, pairs, singles);
}

#endif
