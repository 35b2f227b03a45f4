/* ATTENTION, int8 rounded as ONNX's: a row is a query, [groups][shared][depth], beside keys
 * [keys][groups][depth] and values [keys][groups][width]. */
#include "memopt_dsp_s8.h"

#include "memopt_common.h"

typedef struct {
  int32_t keys, groups, shared; /* heads are groups * shared */
  int32_t depth, width;
  int32_t q_zero_point, k_zero_point, v_zero_point;
  int32_t score_zero_point; /* from the least score on, which is 0 */
  int32_t output_zero_point;
  int32_t score_multiplier, output_multiplier;
  int32_t score_shift, output_shift; /* as memopt_requantize takes them */
  const uint8_t *scaled;             /* what becomes of each score; null: it stays */
  const float *exponential;          /* of 0 to 255 steps below the largest */
  float part_scale;
  int32_t part_most; /* above zero */
  int32_t causal;    /* keys that the first query reads, each next one more; 0: all keys */
} memopt_attention_s8_params;

/* A head of a query without its zero point; of four numbers the second and third change places, as
 * memopt_even_s8 and memopt_odd_s8 have them. */
static inline void attention_s8_widen(const int8_t *query, int32_t zero_point, int32_t depth,
                                      int16_t *to) {
  int32_t i = 0;
#if MEMOPT_DOT_DSP
  for (; i + 4 <= depth; i += 4) {
    to[i] = (int16_t)(query[i] - zero_point);
    to[i + 1] = (int16_t)(query[i + 2] - zero_point);
    to[i + 2] = (int16_t)(query[i + 1] - zero_point);
    to[i + 3] = (int16_t)(query[i + 3] - zero_point);
  }
#endif
  for (; i < depth; ++i) {
    to[i] = (int16_t)(query[i] - zero_point);
  }
}

/* Products of a widened query with two keys, or the last one. */
static inline void attention_s8_products(const int16_t *query, const int8_t *key,
                                         const int8_t *second, int32_t zero_point, int32_t depth,
                                         int32_t *sums) {
  int32_t a = 0, b = 0;
  int32_t i = 0;
#if MEMOPT_DOT_DSP
  const uint32_t zeros = (uint32_t)(uint16_t)-zero_point * 0x10001u;
  for (; i + 4 <= depth; i += 4) {
    int16x2_t even, odd;
    uint32_t word = memopt_load_s8x4(key + i);
    memcpy(&even, query + i, sizeof even);
    memcpy(&odd, query + i + 2, sizeof odd);
    a = __smlad(even, (int16x2_t)memopt_add_even_s8(zeros, word), a);
    a = __smlad(odd, (int16x2_t)memopt_add_odd_s8(zeros, word), a);
    word = memopt_load_s8x4(second + i);
    b = __smlad(even, (int16x2_t)memopt_add_even_s8(zeros, word), b);
    b = __smlad(odd, (int16x2_t)memopt_add_odd_s8(zeros, word), b);
  }
#endif
  for (; i < depth; ++i) {
    a += query[i] * (key[i] - zero_point);
    b += query[i] * (second[i] - zero_point);
  }
  sums[0] = a;
  sums[1] = b;
}

/* Scores of a head as they are stored, from 0 on; the largest is returned. */
MEMOPT_FAST
static int32_t attention_s8_scores(const memopt_attention_s8_params *p, const int16_t *query,
                                   const int8_t *key, int32_t keys, uint16_t *scores) {
  const int32_t step = p->groups * p->depth;
  int32_t most = 0;
  int32_t j, k;
  for (j = 0; j < keys; j += 2) {
    const int32_t count = j + 1 < keys ? 2 : 1;
    int32_t sums[2];
    attention_s8_products(query, key, key + (count - 1) * step, p->k_zero_point, p->depth, sums);
    for (k = 0; k < count; ++k) {
      int32_t score = memopt_requantize(sums[k], p->score_multiplier, p->score_shift);
      score = memopt_clamp(score + p->score_zero_point, 0, 255);
      score = p->scaled ? p->scaled[score] : score;
      most = score > most ? score : most;
      scores[j + k] = (uint16_t)score;
    }
    key += 2 * step;
  }
  return most;
}

/* The scores become their softmax, in steps above zero, whose sum is returned. A product with what
 * is one over the divisors is off by less than 2^-13 steps: where that may matter, they divide. */
static inline int32_t attention_s8_softmax(const memopt_attention_s8_params *p, int32_t most,
                                           int32_t keys, uint16_t *scores) {
  const float *const exponential = p->exponential;
  float sum = 0.0f, factor;
  int32_t total = 0;
  int32_t j;
  for (j = 0; j < keys; ++j) {
    sum += exponential[most - scores[j]];
  }
  factor = 1.0f / (sum * p->part_scale);
  for (j = 0; j < keys; ++j) {
    const float each = exponential[most - scores[j]];
    const float product = each * factor;
    int32_t steps = memopt_round_even(product);
    const float off = product - (float)steps;
    if (off > 0.499f || off < -0.499f) {
      steps = memopt_round_even(each / sum / p->part_scale);
    }
    steps = steps < p->part_most ? steps : p->part_most;
    total += steps;
    scores[j] = (uint16_t)steps;
  }
  return total;
}

/* Four channels of the values, or the last ones, `step` apart, weighed. */
static inline void attention_s8_weighed(const uint16_t *parts, const int8_t *value, int32_t step,
                                        int32_t keys, int32_t count, int32_t *sums) {
  const int32_t second = count > 1 ? 1 : 0, third = count > 2 ? 2 : 0, fourth = count > 3 ? 3 : 0;
  int32_t a = 0, b = 0, c = 0, d = 0;
  int32_t j = 0;
#if MEMOPT_DOT_DSP
  for (; count > 3 && j + 2 <= keys; j += 2) {
    const uint32_t first = memopt_load_s8x4(value);
    const uint32_t next = memopt_load_s8x4(value + step);
    const uint32_t even = (uint32_t)memopt_even_s8(first), odd = (uint32_t)memopt_odd_s8(first);
    const uint32_t next_even = (uint32_t)memopt_even_s8(next);
    const uint32_t next_odd = (uint32_t)memopt_odd_s8(next);
    int16x2_t pair;
    memcpy(&pair, parts + j, sizeof pair);
    a = __smlad(pair, (int16x2_t)((even & 0xffffu) | next_even << 16), a);
    b = __smlad(pair, (int16x2_t)((odd & 0xffffu) | next_odd << 16), b);
    c = __smlad(pair, (int16x2_t)(even >> 16 | (next_even & 0xffff0000u)), c);
    d = __smlad(pair, (int16x2_t)(odd >> 16 | (next_odd & 0xffff0000u)), d);
    value += 2 * step;
  }
#endif
  for (; j < keys; ++j) {
    const int32_t x = parts[j];
    a += x * value[0];
    b += x * value[second];
    c += x * value[third];
    d += x * value[fourth];
    value += step;
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}

/* A head of a row of the result, `total` the sum of all parts. */
MEMOPT_FAST
static void attention_s8_result(const memopt_attention_s8_params *p, const uint16_t *parts,
                                int32_t total, const int8_t *value, int32_t keys, int8_t *output) {
  const int32_t zero = p->v_zero_point * total;
  int32_t j, k;
  for (j = 0; j < p->width; j += 4) {
    const int32_t count = p->width - j < 4 ? p->width - j : 4;
    int32_t sums[4];
    attention_s8_weighed(parts, value + j, p->groups * p->width, keys, count, sums);
    for (k = 0; k < count; ++k) {
      const int32_t steps =
          memopt_requantize(sums[k] - zero, p->output_multiplier, p->output_shift);
      output[j + k] = (int8_t)memopt_clamp(steps + p->output_zero_point, -128, 127);
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
      int32_t most, total;
      attention_s8_widen(query, p->q_zero_point, p->depth, wide);
      most = attention_s8_scores(p, wide, key + group * p->depth, keys, scores);
      total = attention_s8_softmax(p, most, keys, scores);
      attention_s8_result(p, scores, total, value + group * p->width, keys, output);
      query += p->depth;
      output += p->width;
    }
  }
}
