/* ATTENTION, float32: a row is a query, [groups][shared][depth], beside keys [keys][groups][depth] and
 * values [keys][groups][width]. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t keys, groups, shared; /* heads are groups * shared */
  int32_t depth, width;
  float scale;
  int32_t masked, mask_step; /* whether there is a mask, and elements to the next query's row of it */
  int32_t mask_head;         /* elements to the next head's part of a row; 0: all heads have one */
  int32_t causal; /* keys that the first query reads, each next one more; 0: all keys */
} memopt_attention_f32_params;

/* Four sums, or the first ones. */
static inline void attention_f32_store(float a, float b, float c, float d, int32_t count, float *to) {
  to[0] = a;
  if (count > 1) {
    to[1] = b;
  }
  if (count > 2) {
    to[2] = c;
  }
  if (count > 3) {
    to[3] = d;
  }
}

/* Products of a query with four keys, or the last ones, `step` apart. */
static inline void attention_f32_products(const float *query, const float *key, int32_t step,
                                          int32_t depth, int32_t count, float *to) {
  const float *const second = key + (count > 1 ? step : 0);
  const float *const third = key + (count > 2 ? 2 * step : 0);
  const float *const fourth = key + (count > 3 ? 3 * step : 0);
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
  int32_t i;
  for (i = 0; i < depth; ++i) {
    const float x = query[i];
    a += x * key[i];
    b += x * second[i];
    c += x * third[i];
    d += x * fourth[i];
  }
  attention_f32_store(a, b, c, d, count, to);
}

/* The scores become their softmax. */
static inline void attention_f32_softmax(float *scores, int32_t n) {
  float max = scores[0];
  float sum = 0.0f;
  int32_t i;
  for (i = 1; i < n; ++i) {
    max = scores[i] > max ? scores[i] : max;
  }
  for (i = 0; i < n; ++i) {
    scores[i] = expf(scores[i] - max);
    sum += scores[i];
  }
  for (i = 0; i < n; ++i) {
    scores[i] /= sum;
  }
}

/* Four channels of the values, or the last ones, `step` apart, weighed. */
static inline void attention_f32_weighed(const float *parts, const float *value, int32_t step,
                                         int32_t keys, int32_t count, float *to) {
  const int32_t second = count > 1 ? 1 : 0, third = count > 2 ? 2 : 0, fourth = count > 3 ? 3 : 0;
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
  int32_t j;
  for (j = 0; j < keys; ++j) {
    const float x = parts[j];
    a += x * value[0];
    b += x * value[second];
    c += x * value[third];
    d += x * value[fourth];
    value += step;
  }
  attention_f32_store(a, b, c, d, count, to);
}

/* `output` may be `query`: of a head nothing is read any more when it is written. */
KERNEL {
  const int32_t key_step = p->groups * p->depth, value_step = p->groups * p->width;
  float *const scores = (float *)scratch;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *query = (const float *)memopt_in_row(rows, in, 0, row);
    const float *key = (const float *)memopt_in_row(rows, in, 1, rows->in_first);
    const float *value = (const float *)memopt_in_row(rows, in, 2, rows->in_first);
    const float *mask = 0;
    float *output = (float *)memopt_out_row(rows, out, row);
    const int32_t read = p->causal ? p->causal + row : p->keys;
    const int32_t keys = read < p->keys ? read : p->keys;
    int32_t head, j;
    if (p->masked) {
      mask = (const float *)memopt_in_row(rows, in, 3, rows->in_first);
      mask += (row - rows->in_first) * p->mask_step;
    }
    for (head = 0; head < p->groups * p->shared; ++head) {
      const int32_t group = head / p->shared;
      for (j = 0; j < keys; j += 4) {
        attention_f32_products(query, key + group * p->depth + j * key_step, key_step, p->depth,
                               keys - j, scores + j);
      }
      for (j = 0; j < keys; ++j) {
        scores[j] *= p->scale;
        if (mask) {
          scores[j] += mask[j];
        }
      }
      attention_f32_softmax(scores, keys);
      for (j = 0; j < p->width; j += 4) {
        attention_f32_weighed(scores, value + group * p->width + j, value_step, keys,
                              p->width - j, output + j);
      }
      query += p->depth;
      output += p->width;
      mask += mask ? p->mask_head : 0;
    }
  }
}
