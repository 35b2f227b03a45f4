/* Recurrent layers whose weights are stored in 8 bits, with a scale and a zero point for each row. */
#ifndef MEMOPT_RECURRENT_HYBRID_H
#define MEMOPT_RECURRENT_HYBRID_H

#include "memopt_recurrent.h"

#define MEMOPT_WITH_WEIGHT_ZEROS 1

/* What the rows of a matrix stand for, all the same where `step` is 0. */
typedef struct {
  int32_t step;
  const float *scales;
  const int16_t *zeros; /* to add to them; null where all are 0 */
} memopt_stored_rows;

typedef struct {
  int32_t batches, in_n, units, kept; /* a step makes kept * units numbers */
  int32_t in_batch, out_batch;        /* numbers from a batch to the next */
  int32_t reverse; /* from the last step on */
  int32_t starts;  /* whether operand 1 is the initial state, else it is `start`, or zeros */
  float clip;
  const int8_t *weights;   /* [gates][units][in_n] */
  const int8_t *recurrent; /* [gates][units][units] */
  const float *bias;
  const float *start; /* [batches][states][units] */
  memopt_stored_rows of_weights, of_recurrent;
} memopt_recurrent_sizes_hybrid;

/* Cortex-M4, M7: a word has four weights, and takes their zero point off as it is taken apart. */
#if defined(__GNUC__) && defined(__ARM_ARCH_7EM__) && defined(__ARM_FP)
#define MEMOPT_BY_WORDS 1
#else
#define MEMOPT_BY_WORDS 0
#endif
#define MEMOPT_FOUR_WEIGHTS(sum, w, zero)                 \
  do {                                                    \
    int32_t word;                                         \
    memcpy(&word, w, sizeof word);                        \
    sum += xa * (float)((int8_t)word + (zero));           \
    sum += xb * (float)((int8_t)(word >> 8) + (zero));    \
    sum += xc * (float)((int8_t)(word >> 16) + (zero));   \
    sum += xd * (float)((word >> 24) + (zero));           \
  } while (0)

/* acc[k] += scale * x.(w + zero) of rows 0 .. 3 of w, or of `last` for those behind it. */
MEMOPT_FAST
static void memopt_dot_1x4_hybrid(const float *x, const int8_t *w, int32_t n, int32_t last,
                                  const memopt_stored_rows *of, int32_t row, float *acc) {
  const int8_t *const w0 = w;
  const int8_t *const w1 = w + (last > 0 ? n : 0);
  const int8_t *const w2 = last > 1 ? w1 + n : w1;
  const int8_t *const w3 = last > 2 ? w2 + n : w2;
  int32_t zeros[4] = {0, 0, 0, 0};
  float scales[4];
  float a0 = 0.0f, a1 = 0.0f, a2 = 0.0f, a3 = 0.0f;
  int32_t i;
  for (i = 0; i < 4; ++i) {
    const int32_t at = of->step * (row + (i < last ? i : last));
    scales[i] = of->scales[at];
    if (MEMOPT_WITH_WEIGHT_ZEROS && of->zeros) {
      zeros[i] = of->zeros[at];
    }
  }
  i = 0;
#if MEMOPT_BY_WORDS
  for (; i + 3 < n; i += 4) {
    const float xa = x[i], xb = x[i + 1], xc = x[i + 2], xd = x[i + 3];
    MEMOPT_FOUR_WEIGHTS(a0, w0 + i, zeros[0]);
    MEMOPT_FOUR_WEIGHTS(a1, w1 + i, zeros[1]);
    MEMOPT_FOUR_WEIGHTS(a2, w2 + i, zeros[2]);
    MEMOPT_FOUR_WEIGHTS(a3, w3 + i, zeros[3]);
  }
#endif
  for (; i < n; ++i) {
    const float v = x[i];
    a0 += v * (float)(w0[i] + zeros[0]);
    a1 += v * (float)(w1[i] + zeros[1]);
    a2 += v * (float)(w2[i] + zeros[2]);
    a3 += v * (float)(w3[i] + zeros[3]);
  }
  acc[0] += scales[0] * a0;
  acc[1] += scales[1] * a1;
  acc[2] += scales[2] * a2;
  acc[3] += scales[3] * a3;
}

/* acc[k] += scale * x.(w + zero) of rows 0 .. 7 of w, or of `last` for those behind it. */
static inline void memopt_recurrent_dots_hybrid(const float *x, const int8_t *w, int32_t n,
                                                int32_t last, const memopt_stored_rows *of,
                                                int32_t row, float *acc) {
  memopt_dot_1x4_hybrid(x, w, n, last, of, row, acc);
  if (last >= 4) {
    memopt_dot_1x4_hybrid(x, w + 4 * n, n, last - 4, of, row + 4, acc + 4);
  }
}

typedef struct {
  const memopt_recurrent_sizes_hybrid *z;
  const memopt_recurrent_sum *sums, *end;
  float *acc;
} memopt_recurrent_plan_hybrid;

/* As memopt_recurrent_begin_f32. */
static inline void memopt_recurrent_begin_hybrid(memopt_recurrent_plan_hybrid *plan,
                                                 const memopt_recurrent_sizes_hybrid *z,
                                                 const memopt_recurrent_sum *sums, int32_t count,
                                                 float *acc) {
  plan->z = z;
  plan->sums = sums;
  plan->end = sums + count;
  plan->acc = acc;
}

/* As memopt_recurrent_block_f32. */
static inline void memopt_recurrent_block_hybrid(const memopt_recurrent_plan_hybrid *plan,
                                                 int32_t last) {
  const memopt_recurrent_sizes_hybrid *const z = plan->z;
  const memopt_recurrent_sum *sum;
  float *acc = plan->acc;
  for (sum = plan->sums; sum != plan->end; ++sum) {
    const int32_t unit = z->units - 1 - last;
    const int32_t row = sum->gate * z->units + unit;
    memopt_recurrent_bias(z->bias + sum->bias * z->units + unit, last, acc);
    if (sum->x) {
      memopt_recurrent_dots_hybrid(sum->x, z->weights + row * z->in_n, z->in_n, last,
                                   &z->of_weights, row, acc);
    }
    if (sum->held) {
      memopt_recurrent_dots_hybrid(sum->held, z->recurrent + row * z->units, z->units, last,
                                   &z->of_recurrent, row, acc);
    }
    acc += MEMOPT_UNITS;
  }
}

#endif
