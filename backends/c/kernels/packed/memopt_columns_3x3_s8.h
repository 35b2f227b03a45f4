/* A 3x3 window over one channel whose columns are packed: nine products in five instructions.
 *
 * Two columns, 2i and 2i + 1, are three words: va and vb, rows 0 and 1 of each as int16, and u, row
 * 2 of both. The stream of a channel are six words: the nine weights as SXTB16 takes them from
 * three, {A.0, B.0, A.1, B.1}, {C.0, D.0, C.1, D.1}, {E.0, s, E.1, 0}, with A = (w00, w10),
 * B = (w01, w11), C = (w02, w12), D = (w20, w21), E = (w21, w22), s = shift - 1; then {2 * bias,
 * multiplier, (2 * zero point + 1) * 2^(shift - 1)} of a fused channel, see memopt_packed_s8.h, or
 * {bias, multiplier, 0} and s = shift as memopt_requantize takes them.
 */
#ifndef MEMOPT_COLUMNS_3X3_S8_H
#define MEMOPT_COLUMNS_3X3_S8_H

#include "memopt_packed_s8.h"

#define MEMOPT_COLUMNS_WORDS 6 /* of a channel in the stream */

/* Four channels of three rows whose columns are packed: each row from its first column on, `apart`
 * bytes from one to the next, 0 for a row that is not there, of which all are `zero`. To begin with
 * a column that is not there, if `left`; then `pairs` times two; then one, if `right`, and one that
 * is not there. `per` words lie between channels. */
typedef struct {
  const int8_t *row0, *row1, *row2;
  int32_t apart1;
  uint32_t *to;
  int32_t per;
  int32_t apart0, apart2;
  int32_t left, pairs, right;
  uint32_t zero; /* four bytes of padding */
} memopt_columns_of;

#if MEMOPT_ASM_BLOCK
#define MEMOPT_ASM_FOUR(at)                                                                  \
  "sxtb16 r8, r12\n sxtb16 r12, r12, ror #8\n sxtb16 r9, r10\n sxtb16 r10, r10, ror #8\n"     \
  "str r8, [r4, #" at "\n str r12, [r5, #" at "\n str r9, [r6, #" at "\n str r10, [r7, #" at "\n "
#define MEMOPT_ASM_TWO "pkhbt r12, r8, r9, lsl #16\n pkhtb r10, r9, r8, asr #16\n "
#define MEMOPT_ASM_NONE(of) "ldr r12, [" of ", #44]\n mov r10, r12\n "

__attribute__((naked, noinline, unused)) static void memopt_pack_columns(
    const memopt_columns_of *of __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r0, r4-r11, lr}\n mov r12, r0\n"
      "ldm r12, {r0-r4, r7, r11, lr}\n ldrd r8, r9, [r12, #32]\n"
      "sub r4, r4, #12\n add r5, r4, r7, lsl #2\n add r6, r5, r7, lsl #2\n"
      "add r7, r6, r7, lsl #2\n add r9, r9, r8\n add r9, r9, r9, lsl #1\n"
      "add r9, r4, r9, lsl #2\n push {r9}\n"
      "cmp r8, #0\n beq.w 1f\n " MEMOPT_ASM_NONE("r12") MEMOPT_ASM_FOUR("12]!")
      "ldr r8, [r0]\n ldr r9, [r1]\n " MEMOPT_ASM_TWO MEMOPT_ASM_FOUR("4]")
      "ldr r8, [sp, #4]\n ldr r9, [r2]\n ldr r8, [r8, #44]\n " MEMOPT_ASM_TWO
      MEMOPT_ASM_FOUR("8]")
      "add r0, r0, r11\n add r1, r1, r3\n add r2, r2, lr\n"
      "1:\n ldr r9, [sp]\n cmp r4, r9\n beq.w 3f\n"
      "2:\n ldr r8, [r0]\n ldr r9, [r1]\n " MEMOPT_ASM_TWO MEMOPT_ASM_FOUR("12]!")
      "ldr r8, [r0, r11]\n ldr r9, [r1, r3]\n " MEMOPT_ASM_TWO MEMOPT_ASM_FOUR("4]")
      "ldr r8, [r2]\n ldr r9, [r2, lr]\n " MEMOPT_ASM_TWO MEMOPT_ASM_FOUR("8]")
      "ldr r9, [sp]\n add r0, r0, r11, lsl #1\n add r1, r1, r3, lsl #1\n cmp r4, r9\n"
      "add r2, r2, lr, lsl #1\n bne.w 2b\n"
      "3:\n ldr r3, [sp, #4]\n ldr r11, [r3, #40]\n cmp r11, #0\n beq.w 4f\n"
      "ldr r8, [r0]\n ldr r9, [r1]\n " MEMOPT_ASM_TWO MEMOPT_ASM_FOUR("12]!")
      MEMOPT_ASM_NONE("r3") MEMOPT_ASM_FOUR("4]")
      "ldr r8, [r2]\n ldr r9, [r3, #44]\n " MEMOPT_ASM_TWO MEMOPT_ASM_FOUR("8]")
      "4:\n add sp, sp, #8\n pop {r4-r11, pc}\n");
}
#else
static inline void memopt_pack_four(uint32_t *to, int32_t per, uint32_t a, uint32_t b) {
  const uint32_t low = (a & 0xffffu) | b << 16;
  const uint32_t high = a >> 16 | (b & 0xffff0000u);
  to[0] = MEMOPT_EVEN_S8(low);
  to[per] = MEMOPT_ODD_S8(low);
  to[2 * per] = MEMOPT_EVEN_S8(high);
  to[3 * per] = MEMOPT_ODD_S8(high);
}

static inline void memopt_pack_columns(const memopt_columns_of *of) {
  const int8_t *row0 = of->row0, *row1 = of->row1, *row2 = of->row2;
  const int32_t first = of->left ? -1 : 0;
  const int32_t behind = 2 * of->pairs + (of->left ? 1 : 0) + (of->right ? 1 : 0);
  uint32_t *to = of->to;
  int32_t x;
  for (x = first; x < behind; x += 2) {
    uint32_t a[3], b[3];
    a[0] = a[1] = a[2] = b[0] = b[1] = b[2] = of->zero;
    if (x >= 0) {
      a[0] = memopt_word(row0);
      a[1] = memopt_word(row1);
      a[2] = memopt_word(row2);
      row0 += of->apart0;
      row1 += of->apart1;
      row2 += of->apart2;
    }
    if (x + 1 < behind) {
      b[0] = memopt_word(row0);
      b[1] = memopt_word(row1);
      b[2] = memopt_word(row2);
      row0 += of->apart0;
      row1 += of->apart1;
      row2 += of->apart2;
    }
    memopt_pack_four(to, of->per, a[0], a[1]);
    memopt_pack_four(to + 1, of->per, b[0], b[1]);
    memopt_pack_four(to + 2, of->per, a[2], b[2]);
    to += 3;
  }
}
#endif

/* Channels of a row: `pairs` times two results from two columns on, then `singles` times one, `step`
 * bytes from one to the next; `per` words of columns from one channel to the next. */
typedef struct {
  int32_t step, pairs, singles, per, channels;
} memopt_columns_run;

/* One channel of any kind. */
MEMOPT_SMALL
static MEMOPT_NOINLINE void memopt_any_columns(int32_t fused, int32_t zero_point,
                                               const uint32_t *columns, const uint32_t *w,
                                               int8_t *out, const memopt_columns_run *run) {
  const int32_t twos = 2 * run->pairs;
  const uint32_t a = memopt_sxtb16(w[0]), b = memopt_sxtb16(w[0] >> 8);
  const uint32_t c = memopt_sxtb16(w[1]), d = memopt_sxtb16(w[1] >> 8);
  const uint32_t e = memopt_sxtb16(w[2]);
  const int32_t shift = (int8_t)(w[2] >> 8 & 0xffu);
  const int32_t results = twos + run->singles;
  int32_t i;
  for (i = 0; i < results; ++i) {
    int32_t sum;
    if (i >= twos || i % 2 == 0) {
      sum = memopt_smlad(columns[3], c, memopt_smlad(columns[2], d, 0));
      sum = memopt_smlad(columns[1], b, memopt_smlad(columns[0], a, sum));
      sum += memopt_low(columns[5]) * memopt_high(e);
    } else {
      sum = memopt_smlad(columns[4], c, memopt_smlad(columns[5], e, 0));
      sum = memopt_smlad(columns[3], b, memopt_smlad(columns[1], a, sum));
      sum += memopt_high(columns[2]) * memopt_low(d);
    }
    if (fused) {
      sum = memopt_fused(2 * sum + (int32_t)w[3], (int32_t)w[4], (int32_t)w[5], shift);
    } else {
      sum = memopt_requantize(sum + (int32_t)w[3], (int32_t)w[4], shift) + zero_point;
      sum = memopt_clamp(sum, -128, 127);
    }
    *out = (int8_t)sum;
    out += run->step;
    columns += i >= twos || i % 2 == 1 ? 3 : 0;
  }
}

#if MEMOPT_ASM_BLOCK
/* Numbers for which there is no register: in those of the FPU, else on the stack. The three words of a
 * channel behind its weights, at r1, are the first of them; then its shift. */
#if defined(__ARM_FP)
#define MEMOPT_ASM_CHANNEL_WORDS "add r8, r1, #12\n vldmia r8, {s0-s2}\n "
#define MEMOPT_ASM_PUT(n, r) "vmov s" #n ", " r "\n "
#define MEMOPT_ASM_GET(r, n) "vmov " r ", s" #n "\n "
#else
#define MEMOPT_ASM_CHANNEL_WORDS                                         \
  "ldr r4, [r1, #12]\n ldr r5, [r1, #16]\n ldr r6, [r1, #20]\n " \
  "str r4, [sp]\n str r5, [sp, #4]\n str r6, [sp, #8]\n "
#define MEMOPT_ASM_PUT(n, r) "str " r ", [sp, #4 * " #n "]\n "
#define MEMOPT_ASM_GET(r, n) "ldr " r ", [sp, #4 * " #n "]\n "
#endif
#define MEMOPT_ASM_NEXT "ldr r4, [r0, #4]\n ldr r5, [r0, #8]\n ldr r3, [r0], #12\n "

/* Two sums, at the first and the second of two columns: r3, r4, r5 are va, vb, u; r10, r11, r12, lr, r1
 * are A to E. */
#define MEMOPT_ASM_PAIR_SUMS                                                                \
  MEMOPT_ASM_GET("r6", 0) MEMOPT_ASM_GET("r7", 0)                                           \
  "smlad r6, r3, r10, r6\n smlad r7, r4, r10, r7\n smlad r6, r4, r11, r6\n"                 \
  "smlatb r7, r5, lr, r7\n smlad r6, r5, lr, r6\n " MEMOPT_ASM_NEXT                         \
  "smlad r6, r3, r12, r6\n smlad r7, r3, r11, r7\n smlabt r6, r5, r1, r6\n"                 \
  "smlad r7, r4, r12, r7\n smlad r7, r5, r1, r7\n"
#define MEMOPT_ASM_PAIR_STORE                                                               \
  MEMOPT_ASM_GET("r8", 4) "strb r6, [r2]\n strb r7, [r2, r8]\n add r2, r2, r8, lsl #1\n"

/* One sum, at a last column. */
#define MEMOPT_ASM_SINGLE_SUM                                                               \
  MEMOPT_ASM_GET("r6", 0)                                                                   \
  "smlad r6, r3, r10, r6\n smlad r6, r4, r11, r6\n smlad r6, r5, lr, r6\n " MEMOPT_ASM_NEXT \
  "smlad r6, r3, r12, r6\n smlabt r6, r5, r1, r6\n"
#define MEMOPT_ASM_SINGLE_STORE MEMOPT_ASM_GET("r8", 4) "strb r6, [r2]\n add r2, r2, r8\n"

/* Results of A to E that are doubled. */
#define MEMOPT_ASM_PAIR                                                                     \
  MEMOPT_ASM_PAIR_SUMS                                                                      \
  MEMOPT_ASM_GET("r8", 2) MEMOPT_ASM_GET("r9", 1)                                           \
  "add r8, r8, r6, asr #31\n smmlar r6, r6, r9, r8\n " MEMOPT_ASM_GET("r8", 2)              \
  "add r8, r8, r7, asr #31\n smmlar r7, r7, r9, r8\n " MEMOPT_ASM_GET("r9", 3)              \
  "asr r6, r9\n asr r7, r9\n ssat r6, #8, r6, asr #1\n ssat r7, #8, r7, asr #1\n"           \
  MEMOPT_ASM_PAIR_STORE

#define MEMOPT_ASM_SINGLE                                                                   \
  MEMOPT_ASM_SINGLE_SUM                                                                     \
  MEMOPT_ASM_GET("r8", 2) MEMOPT_ASM_GET("r9", 1)                                           \
  "add r8, r8, r6, asr #31\n smmlar r6, r6, r9, r8\n " MEMOPT_ASM_GET("r9", 3)              \
  "asr r6, r9\n ssat r6, #8, r6, asr #1\n " MEMOPT_ASM_SINGLE_STORE

#define MEMOPT_ASM_DOUBLE                                                                   \
  "sadd16 r10, r10, r10\n sadd16 r11, r11, r11\n sadd16 r12, r12, r12\n"                    \
  "sadd16 lr, lr, lr\n sadd16 r1, r1, r1\n"

/* The same of `channels`: their columns, their words of the stream and their results follow one
 * another. Two pairs a round, entered at the second where they are odd. `shift` keeps what `pair` and
 * `single` shift by, A to E are `doubled`. */
#define MEMOPT_ASM_COLUMNS(shift, doubled, pair, single)                                    \
  ".syntax unified\n push {r4-r11, lr}\n sub sp, sp, #52\n"                                 \
  "ldm r3, {r4-r8}\n lsl r7, r7, #2\n add r9, r6, r6, lsl #1\n lsl r9, r9, #2\n"            \
  MEMOPT_ASM_PUT(4, "r4") MEMOPT_ASM_PUT(7, "r1") MEMOPT_ASM_PUT(8, "r2")                   \
  MEMOPT_ASM_PUT(9, "r7") MEMOPT_ASM_PUT(10, "r8") MEMOPT_ASM_PUT(11, "r9")                 \
  MEMOPT_ASM_PUT(12, "r5")                                                                  \
  "0:\n " MEMOPT_ASM_GET("r1", 7) MEMOPT_ASM_CHANNEL_WORDS                                  \
  "ldr r6, [r1]\n ldr r7, [r1, #4]\n ldr r8, [r1, #8]\n add r9, r1, #24\n"                  \
  MEMOPT_ASM_PUT(7, "r9") shift                                                             \
  "sxtb16 r10, r6\n sxtb16 r11, r6, ror #8\n sxtb16 r12, r7\n sxtb16 lr, r7, ror #8\n"      \
  "sxtb16 r1, r8\n" doubled                                                                 \
  MEMOPT_ASM_GET("r9", 9) MEMOPT_ASM_GET("r8", 11) "add r9, r9, r0\n sub r8, r9, r8\n"      \
  MEMOPT_ASM_PUT(6, "r9") MEMOPT_ASM_PUT(5, "r8")                                           \
  MEMOPT_ASM_GET("r2", 8) MEMOPT_ASM_GET("r9", 12) "add r8, r2, #1\n"                       \
  MEMOPT_ASM_PUT(8, "r8") MEMOPT_ASM_NEXT                                                   \
  "cmp r9, #0\n beq.w 3f\n tst r9, #1\n bne.w 2f\n"                                         \
  "1:\n " pair                                                                              \
  "2:\n " pair                                                                              \
  MEMOPT_ASM_GET("r8", 5) "cmp r0, r8\n bne.w 1b\n"                                         \
  "3:\n " MEMOPT_ASM_GET("r8", 6) "cmp r0, r8\n beq.w 5f\n"                                 \
  "4:\n " single                                                                            \
  MEMOPT_ASM_GET("r8", 6) "cmp r0, r8\n bne.w 4b\n"                                         \
  "5:\n " MEMOPT_ASM_GET("r9", 10) "subs r9, r9, #1\n " MEMOPT_ASM_PUT(10, "r9")            \
  "bne.w 0b\n add sp, sp, #52\n pop {r4-r11, pc}\n"

/* Of fused ones. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_fused_columns(
    const uint32_t *columns __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int8_t *out __attribute__((unused)), const memopt_columns_run *run __attribute__((unused))) {
  __asm__(MEMOPT_ASM_COLUMNS("ubfx r9, r8, #8, #8\n " MEMOPT_ASM_PUT(3, "r9"), MEMOPT_ASM_DOUBLE,
                             MEMOPT_ASM_PAIR, MEMOPT_ASM_SINGLE));
}
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
/* Results of a channel of floats, whose A to E are not doubled. */
#define MEMOPT_ASM_FLOAT_PAIR                                                               \
  MEMOPT_ASM_PAIR_SUMS                                                                      \
  "vmov s14, s15, r6, r7\n vcvt.f32.s32 s14, s14\n vcvt.f32.s32 s15, s15\n"                \
  "vmul.f32 s14, s14, s1\n vmul.f32 s15, s15, s1\n vcvtr.s32.f32 s14, s14\n"              \
  "vcvtr.s32.f32 s15, s15\n " MEMOPT_ASM_GET("r8", 2) "vmov r6, r7, s14, s15\n"            \
  "qadd r6, r6, r8\n qadd r7, r7, r8\n ssat r6, #8, r6\n ssat r7, #8, r7\n"               \
  MEMOPT_ASM_PAIR_STORE

#define MEMOPT_ASM_FLOAT_SINGLE                                                             \
  MEMOPT_ASM_SINGLE_SUM                                                                     \
  "vmov s14, r6\n vcvt.f32.s32 s14, s14\n vmul.f32 s14, s14, s1\n vcvtr.s32.f32 s14, s14\n" \
  MEMOPT_ASM_GET("r8", 2) "vmov r6, s14\n qadd r6, r6, r8\n ssat r6, #8, r6\n "            \
  MEMOPT_ASM_SINGLE_STORE

/* As memopt_fused_columns, of floats. */
__attribute__((naked, noinline, unused, aligned(4))) static void memopt_float_columns(
    const uint32_t *columns __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    int8_t *out __attribute__((unused)), const memopt_columns_run *run __attribute__((unused))) {
  __asm__(MEMOPT_ASM_COLUMNS("", "", MEMOPT_ASM_FLOAT_PAIR, MEMOPT_ASM_FLOAT_SINGLE));
}
#endif /* MEMOPT_ROUND_EVEN */
#endif

#if MEMOPT_ROUND_EVEN
/* FLOAT, rounded as ONNX does: {bias, multiplier, zero point}, where the multiplier is a float, s =
 * MEMOPT_EVEN. All channels of a run. */
static inline void memopt_float_run(const uint32_t *columns, const uint32_t *w, int8_t *out,
                                    const memopt_columns_run *run) {
#if MEMOPT_ASM_FLOAT
  memopt_float_columns(columns, w, out, run);
#else
  int32_t k;
  for (k = 0; k < run->channels; ++k) {
    memopt_any_columns(0, (int32_t)w[5], columns, w, out, run);
    columns += run->per;
    w += MEMOPT_COLUMNS_WORDS;
    ++out;
  }
#endif
}
#endif /* MEMOPT_ROUND_EVEN */

/* All channels of a run, of one kind. */
static inline void memopt_columns(int32_t fused, int32_t zero_point, const uint32_t *columns,
                                  const uint32_t *w, int8_t *out, const memopt_columns_run *run) {
  int32_t k;
#if MEMOPT_ASM_BLOCK
  if (fused) {
    memopt_fused_columns(columns, w, out, run);
    return;
  }
#endif
  for (k = 0; k < run->channels; ++k) {
    memopt_any_columns(fused, zero_point, columns, w, out, run);
    columns += run->per;
    w += MEMOPT_COLUMNS_WORDS;
    ++out;
  }
}

#endif
