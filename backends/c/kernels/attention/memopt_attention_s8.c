/* ATTENTION, int8 rounded as ONNX's: a row is a query, [groups][shared][depth], beside keys
 * [keys][groups][depth] and values [keys][groups][width]. */
#include "memopt_dsp_s8.h"

#include "memopt_common.h"

#if MEMOPT_DOT_DSP && defined(__GNUC__) && defined(__thumb2__)
#define ATTENTION_ASM 1
#else
#define ATTENTION_ASM 0
#endif

#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
#define ATTENTION_FLOAT ATTENTION_ASM
#endif /* MEMOPT_ROUND_EVEN */
#ifndef ATTENTION_FLOAT
#define ATTENTION_FLOAT 0
#endif

#define ATTENTION_EVEN 127 /* MEMOPT_EVEN */
#define ATTENTION_NEAR 8u

typedef struct {
  int32_t keys, groups, shared; /* heads are groups * shared */
  int32_t depth, width;
  int32_t q_zero_point, k_zero_point, v_zero_point;
  int32_t score_zero_point; /* from the least score on, which is 0 */
  int32_t output_zero_point;
  int32_t score_multiplier, output_multiplier; /* floats */
  const uint8_t *scaled;             /* what becomes of each score; null: it stays */
  const float *exponential;          /* of 0 to 255 steps below the largest */
  float part_scale;
  int32_t part_most; /* above zero */
  int32_t causal;    /* keys that the first query reads, each next one more; 0: all keys */
} memopt_attention_s8_params;

/* A head of a query without its zero point, whose sum is returned; of four numbers the second and third
 * change places, as memopt_even_s8 and memopt_odd_s8 have them. */
static inline int32_t attention_s8_widen(const int8_t *query, int32_t zero_point, int32_t depth,
                                         int16_t *to) {
  int32_t sum = -zero_point * depth;
  int32_t i = 0;
#if MEMOPT_DOT_DSP
  for (; i + 4 <= depth; i += 4) {
    const uint32_t zeros = (uint32_t)(uint16_t)-zero_point * 0x10001u;
    const uint32_t word = memopt_load_s8x4(query + i);
    const uint32_t even = memopt_add_even_s8(zeros, word), odd = memopt_add_odd_s8(zeros, word);
    memcpy(to + i, &even, sizeof even);
    memcpy(to + i + 2, &odd, sizeof odd);
    sum = __smlad(memopt_even_s8(word), 0x00010001, sum);
    sum = __smlad(memopt_odd_s8(word), 0x00010001, sum);
  }
#endif
  for (; i < depth; ++i) {
    to[i] = (int16_t)(query[i] - zero_point);
    sum += query[i];
  }
  return sum;
}

/* Products of numbers `from` to `depth` of a widened query with up to four keys, `step` bytes apart, and
 * `begin`. */
static inline void attention_s8_products(const int16_t *query, const int8_t *key, int32_t step,
                                         int32_t count, int32_t from, int32_t depth, int32_t begin,
                                         int32_t sums[4]) {
  int32_t i, k;
  for (k = 0; k < count; ++k) {
    int32_t sum = begin;
    i = from;
#if MEMOPT_DOT_DSP
    for (; i + 4 <= depth; i += 4) {
      const uint32_t word = memopt_load_s8x4(key + i);
      int16x2_t even, odd;
      memcpy(&even, query + i, sizeof even);
      memcpy(&odd, query + i + 2, sizeof odd);
      sum = __smlad(even, memopt_even_s8(word), sum);
      sum = __smlad(odd, memopt_odd_s8(word), sum);
    }
#endif
    for (; i < depth; ++i) {
      sum += query[i] * key[i];
    }
    sums[k] = sum;
    key += step;
  }
}

/* What four keys or channels share: sums that they begin with, and how stored numbers are made of them. */
typedef struct {
  int32_t sums[4];
  int32_t multiplier, zero_point;
  const uint8_t *scaled;
  uint32_t most; /* two largest scores of 16 bits */
} attention_s8_four;

#if ATTENTION_ASM
/* Four steps of 84 bytes and 16 products, entered where as many are left as do not fill a round; the sums
 * are in r5 to r8, `four` in r12. */
#define ATTENTION_FOUR_KEYS(finish)                                                           \
  ".syntax unified\n push {r4-r11, lr}\n add r4, r2, r3, lsl #1\n"                             \
  "ldr r12, [sp, #36]\n ldm r12, {r5-r8}\n"                                                    \
  "sub r12, r0, r1\n and r12, r12, #24\n add lr, r12, r12, lsl #2\n"                           \
  "add r12, r12, lr, lsl #2\n lsr r12, r12, #1\n .balign 4\n add pc, r12\n nop\n"              \
  "1:\n .rept 4\n"                                                                             \
  "ldrd r9, r10, [r0], #8\n ldr.w r12, [r2, r3]\n ldr.w r11, [r2], #4\n"                       \
  "sxtb16 lr, r11\n sxtb16 r11, r11, ror #8\n smlad r5, r9, lr, r5\n"                          \
  "smlad r5, r10, r11, r5\n ldr.w r11, [r4, r3]\n sxtb16 lr, r12\n"                            \
  "sxtb16 r12, r12, ror #8\n smlad r6, r9, lr, r6\n smlad r6, r10, r12, r6\n"                  \
  "ldr.w r12, [r4], #4\n sxtb16 lr, r11\n sxtb16 r11, r11, ror #8\n"                           \
  "smlad r8, r9, lr, r8\n smlad r8, r10, r11, r8\n sxtb16 lr, r12\n"                           \
  "sxtb16 r12, r12, ror #8\n smlad r7, r9, lr, r7\n smlad r7, r10, r12, r7\n"                  \
  ".endr\n cmp r0, r1\n bne.w 1b\n ldr r12, [sp, #36]\n" finish "pop {r4-r11, pc}\n"

#if ATTENTION_FLOAT
/* Four integers times the float in r1, rounded, plus r2, saturated. */
#define ATTENTION_FOUR_STEPS(a, b, c, d, saturate)                                            \
  "vmov s4, r1\n vmov s0, s1, " a ", " b "\n vmov s2, s3, " c ", " d "\n"                      \
  "vcvt.f32.s32 s0, s0\n vcvt.f32.s32 s1, s1\n vcvt.f32.s32 s2, s2\n vcvt.f32.s32 s3, s3\n"    \
  "vmul.f32 s0, s0, s4\n vmul.f32 s1, s1, s4\n vmul.f32 s2, s2, s4\n vmul.f32 s3, s3, s4\n"    \
  "vcvtr.s32.f32 s0, s0\n vcvtr.s32.f32 s1, s1\n vcvtr.s32.f32 s2, s2\n"                       \
  "vcvtr.s32.f32 s3, s3\n vmov " a ", " b ", s0, s1\n vmov " c ", " d ", s2, s3\n"             \
  "qadd " a ", " a ", r2\n qadd " b ", " b ", r2\n qadd " c ", " c ", r2\n"                     \
  "qadd " d ", " d ", r2\n" saturate " " a ", #8, " a "\n" saturate " " b ", #8, " b "\n"       \
  saturate " " c ", #8, " c "\n" saturate " " d ", #8, " d "\n"

#define ATTENTION_FOUR_SCORES                                                                 \
  "add r0, r12, #16\n ldm r0, {r1-r4}\n"                                                       \
  ATTENTION_FOUR_STEPS("r5", "r6", "r7", "r8", "usat") "cbz r3, 2f\n"                          \
  "ldrb r5, [r3, r5]\n ldrb r6, [r3, r6]\n ldrb r7, [r3, r7]\n ldrb r8, [r3, r8]\n"            \
  "2:\n ldr r0, [sp, #40]\n pkhbt r5, r5, r6, lsl #16\n pkhbt r7, r7, r8, lsl #16\n"           \
  "strd r5, r7, [r0]\n usub16 r1, r5, r4\n sel r4, r5, r4\n usub16 r1, r7, r4\n"               \
  "sel r4, r7, r4\n str r4, [r12, #28]\n"

#define ATTENTION_FOUR_RESULTS                                                                \
  "ldrd r1, r2, [r12, #16]\n" ATTENTION_FOUR_STEPS("r4", "r5", "r6", "r7", "ssat")             \
  "ldr r0, [sp, #40]\n strb r4, [r0]\n strb r5, [r0, #1]\n strb r6, [r0, #2]\n"                \
  "strb r7, [r0, #3]\n"
#else
#define ATTENTION_FOUR_SCORES "stm r12, {r5-r8}\n"
#define ATTENTION_FOUR_RESULTS "stm r12, {r4-r7}\n"
#endif

/* Scores of four keys, `step` bytes apart, or, without floats, their sums, of a widened query that ends at
 * `end`, a positive multiple of four numbers. */
__attribute__((naked, noinline, aligned(4))) static void attention_s8_four_keys(
    const int16_t *query __attribute__((unused)), const int16_t *end __attribute__((unused)),
    const int8_t *key __attribute__((unused)), int32_t step __attribute__((unused)),
    attention_s8_four *four __attribute__((unused)), uint16_t *scores __attribute__((unused))) {
  __asm__(ATTENTION_FOUR_KEYS(ATTENTION_FOUR_SCORES));
}
#endif

/* Scores of a head as they are stored, from 0 on, of a widened query whose numbers sum up to `sum`; the
 * largest is returned. */
MEMOPT_FAST
static int32_t attention_s8_scores(const memopt_attention_s8_params *p, const int16_t *query,
                                   int32_t sum, const int8_t *key, int32_t keys,
                                   uint16_t *scores) {
  const int32_t step = p->groups * p->depth, begin = -p->k_zero_point * sum;
  const uint8_t *const scaled = p->scaled;
  attention_s8_four four;
  int32_t most = 0;
  int32_t j = 0;
  int32_t k;
  four.multiplier = p->score_multiplier;
  four.zero_point = p->score_zero_point;
  four.scaled = scaled;
  four.most = 0;
#if ATTENTION_FLOAT
  if ((p->depth & 3) == 0) {
    four.sums[0] = four.sums[1] = four.sums[2] = four.sums[3] = begin;
    for (; j + 4 <= keys; j += 4) {
      attention_s8_four_keys(query, query + p->depth, key, step, &four, scores + j);
      key += 4 * step;
    }
  }
#endif
  for (; j < keys; j += 4) {
    const int32_t count = keys - j < 4 ? keys - j : 4;
#if ATTENTION_ASM
    const int32_t by_four = count == 4 ? p->depth & ~3 : 0;
    attention_s8_products(query, key, step, count, by_four, p->depth, begin, four.sums);
    if (by_four > 0) {
      attention_s8_four_keys(query, query + by_four, key, step, &four, scores + j);
    }
    if (by_four == 0 || !ATTENTION_FLOAT)
#else
    attention_s8_products(query, key, step, count, 0, p->depth, begin, four.sums);
#endif
    for (k = 0; k < count; ++k) {
      int32_t score = memopt_requantize(four.sums[k], four.multiplier, ATTENTION_EVEN);
      score = memopt_clamp(score + four.zero_point, 0, 255);
      score = scaled ? scaled[score] : score;
      most = score > most ? score : most;
      scores[j + k] = (uint16_t)score;
    }
    key += 4 * step;
  }
  most = (int32_t)(four.most & 0xffffu) > most ? (int32_t)(four.most & 0xffffu) : most;
  return (int32_t)(four.most >> 16) > most ? (int32_t)(four.most >> 16) : most;
}

/* Steps above zero of a probability, whose exponential is `each`, all of which sum up to `sum`. `product` has
 * them with 16 bits behind the point, a half and `near` added, and is off by less than `near`: where that
 * may matter, they divide. */
static inline int32_t attention_s8_steps(const memopt_attention_s8_params *p, float each,
                                         float sum, uint32_t product, uint32_t near) {
  int32_t steps = (int32_t)(product >> 16);
  if ((product & 0xffffu) < 2u * near) {
    steps = memopt_round_even(each / sum / p->part_scale);
  }
  return steps < p->part_most ? steps : p->part_most;
}

#if ATTENTION_FLOAT
/* How far two scores are below the largest, which `most` has twice. */
static inline uint32_t attention_s8_below(uint32_t most, const uint16_t *scores) {
  uint32_t two;
  memcpy(&two, scores, sizeof two);
  return (uint32_t)__usub16((uint16x2_t)most, (uint16x2_t)two);
}

/* The smaller one of both halves. */
static inline uint32_t attention_s8_least(uint32_t two, uint32_t most) {
  uint32_t least;
  __asm__("usub16 %0, %1, %2\n sel %0, %2, %1" : "=&r"(least) : "r"(two), "r"(most) : "cc");
  return least;
}
#endif

/* The scores become their softmax, in steps above zero, whose sum is returned. Where so many steps are no
 * integer all of them divide. */
static inline int32_t attention_s8_softmax(const memopt_attention_s8_params *p, int32_t most,
                                           int32_t keys, uint16_t *scores) {
  const float *const exponential = p->exponential;
  const int32_t fits = p->part_scale > 1.0f / 16384.0f;
  const uint32_t near = fits ? ATTENTION_NEAR : 0x8000u;
  float sum = 0.0f, factor;
  int32_t total = 0;
  int32_t j = 0;
#if ATTENTION_FLOAT
  const uint32_t most_twice = (uint32_t)most * 0x10001u;
  const uint32_t part_most = (uint32_t)p->part_most * 0x10001u;
  for (; j + 1 < keys; j += 2) {
    const uint32_t below = attention_s8_below(most_twice, scores + j);
    sum += exponential[below & 0xffffu];
    sum += exponential[below >> 16];
  }
#else
  for (; j + 1 < keys; j += 2) {
    sum += exponential[most - scores[j]];
    sum += exponential[most - scores[j + 1]];
  }
#endif
  if (j < keys) {
    sum += exponential[most - scores[j]];
  }
  factor = fits ? 65536.0f / (sum * p->part_scale) : 0.0f;
  j = 0;
#if ATTENTION_FLOAT
  for (; j + 1 < keys; j += 2) {
    const uint32_t below = attention_s8_below(most_twice, scores + j);
    const float a = exponential[below & 0xffffu], b = exponential[below >> 16];
    uint32_t first, second, steps;
    float a_steps, b_steps;
    __asm__("vmul.f32 %2, %4, %6\n vmul.f32 %3, %5, %6\n vcvt.s32.f32 %2, %2\n"
            "vcvt.s32.f32 %3, %3\n vmov %0, %2\n vmov %1, %3"
            : "=r"(first), "=r"(second), "=&t"(a_steps), "=&t"(b_steps)
            : "t"(a), "t"(b), "t"(factor));
    first += 0x8000u + near;
    second += 0x8000u + near;
    if ((first & 0xffffu) < 2u * near || (second & 0xffffu) < 2u * near) {
      steps = (uint32_t)attention_s8_steps(p, b, sum, second, near) << 16;
      steps |= (uint32_t)attention_s8_steps(p, a, sum, first, near);
    } else {
      __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(steps) : "r"(second), "r"(first));
      steps = attention_s8_least(steps, part_most);
    }
    total = __smlad((int16x2_t)steps, 0x00010001, total);
    memcpy(scores + j, &steps, sizeof steps);
  }
#endif
  for (; j < keys; ++j) {
    const float each = exponential[most - scores[j]];
    const uint32_t product = (uint32_t)(int32_t)(each * factor) + 0x8000u + near;
    const int32_t steps = attention_s8_steps(p, each, sum, product, near);
    total += steps;
    scores[j] = (uint16_t)steps;
  }
  return total;
}

#if ATTENTION_ASM
/* Four channels of the values of two keys at a time, `step` bytes apart, weighed by the parts up to `end`,
 * a positive even number of them: results, or, without floats, sums. Four steps of 56 bytes and 8
 * products. */
__attribute__((naked, noinline, aligned(4))) static void attention_s8_four_channels(
    const uint16_t *parts __attribute__((unused)), const uint16_t *end __attribute__((unused)),
    const int8_t *value __attribute__((unused)), int32_t step __attribute__((unused)),
    attention_s8_four *four __attribute__((unused)), int8_t *output __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r4-r11, lr}\n lsl lr, r3, #1\n"
      "ldr r12, [sp, #36]\n ldm r12, {r4-r7}\n"
      "sub r12, r0, r1\n and r12, r12, #12\n rsb r12, r12, r12, lsl #3\n"
      "lsl r12, r12, #1\n .balign 4\n add pc, r12\n nop\n"
      "1:\n .rept 4\n"
      "ldr.w r8, [r0], #4\n ldr.w r9, [r2]\n ldr.w r10, [r2, r3]\n add.w r2, r2, lr\n"
      "pkhbt r11, r9, r10, lsl #16\n pkhtb r12, r10, r9, asr #16\n"
      "sxtb16 r9, r11\n sxtb16 r11, r11, ror #8\n sxtb16 r10, r12\n sxtb16 r12, r12, ror #8\n"
      "smlad r4, r8, r9, r4\n smlad r5, r8, r11, r5\n smlad r6, r8, r10, r6\n"
      "smlad r7, r8, r12, r7\n"
      ".endr\n cmp r0, r1\n bne.w 1b\n ldr r12, [sp, #36]\n" ATTENTION_FOUR_RESULTS
      "pop {r4-r11, pc}\n");
}
#endif

/* `count` channels of the values of keys from `from` on, `step` apart, weighed, and `begin`. */
static inline void attention_s8_weighed(const uint16_t *parts, const int8_t *value, int32_t step,
                                        int32_t from, int32_t keys, int32_t count, int32_t begin,
                                        int32_t sums[4]) {
  int32_t j, k;
  sums[0] = sums[1] = sums[2] = sums[3] = begin;
  for (j = from; j < keys; ++j) {
    for (k = 0; k < count; ++k) {
      sums[k] += parts[j] * value[j * step + k];
    }
  }
}

/* A head of a row of the result, `total` the sum of all parts. */
MEMOPT_FAST
static void attention_s8_result(const memopt_attention_s8_params *p, const uint16_t *parts,
                                int32_t total, const int8_t *value, int32_t keys, int8_t *output) {
  const int32_t step = p->groups * p->width, begin = -p->v_zero_point * total;
  attention_s8_four four;
  int32_t j, k;
  four.multiplier = p->output_multiplier;
  four.zero_point = p->output_zero_point;
  for (j = 0; j < p->width; j += 4) {
    const int32_t count = p->width - j < 4 ? p->width - j : 4;
#if ATTENTION_ASM
    const int32_t by_two = count == 4 ? keys & ~1 : 0;
    attention_s8_weighed(parts, value + j, step, by_two, keys, count, begin, four.sums);
    if (by_two > 0) {
      attention_s8_four_channels(parts, parts + by_two, value + j, step, &four, output + j);
    }
    if (by_two == 0 || !ATTENTION_FLOAT)
#else
    attention_s8_weighed(parts, value + j, step, 0, keys, count, begin, four.sums);
#endif
    for (k = 0; k < count; ++k) {
      const int32_t steps = memopt_requantize(four.sums[k], four.multiplier, ATTENTION_EVEN);
      output[j + k] = (int8_t)memopt_clamp(steps + four.zero_point, -128, 127);
    }
  }
}

/* `output` may be `query`: of a head nothing is read any more when it is written. */
KERNEL {
  int16_t *const wide = (int16_t *)scratch;
  uint16_t *const scores = (uint16_t *)scratch + ((p->depth + 1) & ~1);
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *query = (const int8_t *)memopt_in_row(rows, in, 0, row);
    const int8_t *key = (const int8_t *)memopt_in_row(rows, in, 1, rows->in_first);
    const int8_t *value = (const int8_t *)memopt_in_row(rows, in, 2, rows->in_first);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    const int32_t read = p->causal ? p->causal + row : p->keys;
    const int32_t keys = read < p->keys ? read : p->keys;
    int32_t head;
    for (head = 0; head < p->groups * p->shared; ++head) {
      const int32_t group = head / p->shared;
      const int32_t sum = attention_s8_widen(query, p->q_zero_point, p->depth, wide);
      const int8_t *const first = key + group * p->depth;
      const int32_t most = attention_s8_scores(p, wide, sum, first, keys, scores);
      const int32_t total = attention_s8_softmax(p, most, keys, scores);
      attention_s8_result(p, scores, total, value + group * p->width, keys, output);
      query += p->depth;
      output += p->width;
    }
  }
}
