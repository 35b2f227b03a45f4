/* KIND  TYPE     WIDE     BITS
 * s16   int16_t  int32_t  16
 * i32   int32_t  int64_t  32
 */
/* SignalRfft and SignalIrfft of TYPE, in the result: the arithmetic of KissFFT, in which each stage
 * divides by how many numbers it joins and all products are rounded, halves up. Real and imaginary
 * parts stand in turn. */
#include "memopt_common.h"

typedef struct {
  int32_t vectors;
  int32_t in_n;  /* numbers of a vector, behind which zeros stand */
  int32_t count; /* complex numbers that are transformed: half of the length, a power of 2 */
  int32_t is_inverse;
  const TYPE *turns;      /* [count][2]: one turn */
  const TYPE *half_turns; /* [count / 2][2]: from the second on of half a turn and a quarter */
} memopt_signal_fft_KIND_params;

static inline TYPE fft_round_KIND(WIDE x) {
  return (TYPE)MEMOPT_SHIFT_RIGHT(x + ((WIDE)1 << (BITS - 2)), BITS - 1);
}

/* A number by 2 or 4. */
static inline TYPE fft_part_KIND(TYPE x, int32_t parts) {
  const WIDE one = ((WIDE)1 << (BITS - 1)) - 1;
  return fft_round_KIND((WIDE)x * (parts == 2 ? one / 2 : one / 4));
}

static inline TYPE fft_add_KIND(TYPE a, TYPE b) { return (TYPE)((uint32_t)a + (uint32_t)b); }

static inline TYPE fft_sub_KIND(TYPE a, TYPE b) { return (TYPE)((uint32_t)a - (uint32_t)b); }

static inline TYPE fft_half_KIND(uint32_t sum) {
  return (TYPE)memopt_shift_right((int32_t)sum, 1);
}

static inline void fft_product_KIND(const TYPE *a, const TYPE *b, TYPE *to) {
  const TYPE re = fft_round_KIND((WIDE)a[0] * b[0] - (WIDE)a[1] * b[1]);
  to[1] = fft_round_KIND((WIDE)a[0] * b[1] + (WIDE)a[1] * b[0]);
  to[0] = re;
}

/* Where the stages expect complex number k: its digits, of base 4 and at last of base 2, reversed. */
static TYPE *fft_place_KIND(TYPE *x, int32_t k, int32_t count) {
  int32_t place = 0;
  for (; count >= 4; k >>= 2) {
    count >>= 2;
    place += (k & 3) * count;
  }
  return x + 2 * (place + (count == 2 ? k & 1 : 0));
}

static void fft_pairs_KIND(const memopt_signal_fft_KIND_params *p, TYPE *x) {
  int32_t i, k;
  for (i = 0; i < p->count; i += 2, x += 4) {
    TYPE turned[2];
    for (k = 0; k < 4; ++k) {
      x[k] = fft_part_KIND(x[k], 2);
    }
    fft_product_KIND(x + 2, p->turns, turned);
    for (k = 0; k < 2; ++k) {
      x[2 + k] = fft_sub_KIND(x[k], turned[k]);
      x[k] = fft_add_KIND(x[k], turned[k]);
    }
  }
}

/* Join complex numbers x[0], x[m], x[2m], x[3m]. */
static inline void fft_four_KIND(const memopt_signal_fft_KIND_params *p, TYPE *x, int32_t m,
                                 int32_t turn) {
  TYPE *const parts[4] = {x, x + 2 * m, x + 4 * m, x + 6 * m};
  TYPE turned[4][2];
  int32_t i, k;
  for (i = 0; i < 4; ++i) {
    turned[i][0] = fft_part_KIND(parts[i][0], 4);
    turned[i][1] = fft_part_KIND(parts[i][1], 4);
    if (i > 0) {
      fft_product_KIND(turned[i], p->turns + 2 * i * turn, turned[i]);
    }
  }
  for (k = 0; k < 2; ++k) {
    const TYPE even = fft_add_KIND(turned[0][k], turned[2][k]);
    const TYPE odd = fft_sub_KIND(turned[0][k], turned[2][k]);
    const TYPE sum = fft_add_KIND(turned[1][k], turned[3][k]);
    const TYPE across = fft_sub_KIND(turned[1][1 - k], turned[3][1 - k]);
    const int32_t adds = (k == 0) != (p->is_inverse != 0);
    parts[0][k] = fft_add_KIND(even, sum);
    parts[2][k] = fft_sub_KIND(even, sum);
    parts[1][k] = adds ? fft_add_KIND(odd, across) : fft_sub_KIND(odd, across);
    parts[3][k] = adds ? fft_sub_KIND(odd, across) : fft_add_KIND(odd, across);
  }
}

static void fft_stages_KIND(const memopt_signal_fft_KIND_params *p, TYPE *x) {
  int32_t stage = 1, i, k;
  int32_t step;
  for (i = p->count; i >= 4; i >>= 2) {
  }
  if (i == 2) {
    fft_pairs_KIND(p, x);
    stage = 2;
  }
  for (step = (p->count >> 2) >> (stage - 1); step > 0; step >>= 2, stage *= 4) {
    for (i = 0; i < p->count; i += 4 * stage) {
      for (k = 0; k < stage; ++k) {
        fft_four_KIND(p, x + 2 * (i + k), stage, k * step);
      }
    }
  }
}

/* Half of complex number k and half of number count - k with the other sign of its imaginary part:
 * their sum, and their difference turned. */
static void fft_halves_KIND(const memopt_signal_fft_KIND_params *p, const TYPE *x, int32_t k,
                            TYPE *sum, TYPE *turned) {
  const TYPE *const high = x + 2 * (p->count - k);
  const TYPE other[2] = {fft_part_KIND(high[0], 2), fft_part_KIND(fft_sub_KIND(0, high[1]), 2)};
  int32_t i;
  for (i = 0; i < 2; ++i) {
    const TYPE low = fft_part_KIND(x[2 * k + i], 2);
    sum[i] = fft_add_KIND(low, other[i]);
    turned[i] = fft_sub_KIND(low, other[i]);
  }
  fft_product_KIND(turned, p->half_turns + 2 * (k - 1), turned);
}

static void fft_forward_KIND(const memopt_signal_fft_KIND_params *p, const TYPE *input, TYPE *x) {
  int32_t k;
  TYPE even, odd;
  for (k = 0; k < p->count; ++k) {
    TYPE *const at = fft_place_KIND(x, k, p->count);
    at[0] = (TYPE)(2 * k < p->in_n ? input[2 * k] : 0);
    at[1] = (TYPE)(2 * k + 1 < p->in_n ? input[2 * k + 1] : 0);
  }
  fft_stages_KIND(p, x);
  even = fft_part_KIND(x[0], 2);
  odd = fft_part_KIND(x[1], 2);
  x[0] = fft_add_KIND(even, odd);
  x[2 * p->count] = fft_sub_KIND(even, odd);
  x[1] = x[2 * p->count + 1] = 0;
  for (k = 1; k <= p->count / 2; ++k) {
    TYPE *const high = x + 2 * (p->count - k);
    TYPE sum[2], turned[2];
    fft_halves_KIND(p, x, k, sum, turned);
    x[2 * k] = fft_half_KIND((uint32_t)sum[0] + (uint32_t)turned[0]);
    x[2 * k + 1] = fft_half_KIND((uint32_t)sum[1] + (uint32_t)turned[1]);
    high[0] = fft_half_KIND((uint32_t)sum[0] - (uint32_t)turned[0]);
    high[1] = fft_half_KIND((uint32_t)turned[1] - (uint32_t)sum[1]);
  }
}

static void fft_backward_KIND(const memopt_signal_fft_KIND_params *p, const TYPE *input, TYPE *x) {
  const TYPE last = input[2 * p->count];
  TYPE *const first = fft_place_KIND(x, 0, p->count);
  int32_t k;
  first[0] = fft_part_KIND(fft_add_KIND(input[0], last), 2);
  first[1] = fft_part_KIND(fft_sub_KIND(input[0], last), 2);
  for (k = 1; k <= p->count / 2; ++k) {
    TYPE *const low = fft_place_KIND(x, k, p->count);
    TYPE *const high = fft_place_KIND(x, p->count - k, p->count);
    TYPE even[2], odd[2];
    fft_halves_KIND(p, input, k, even, odd);
    low[0] = fft_add_KIND(even[0], odd[0]);
    low[1] = fft_add_KIND(even[1], odd[1]);
    high[0] = fft_sub_KIND(even[0], odd[0]);
    high[1] = fft_sub_KIND(odd[1], even[1]);
  }
  fft_stages_KIND(p, x);
}

MEMOPT_FAST
KERNEL(rows, scratch) {
  const TYPE *input = (const TYPE *)in[0];
  TYPE *output = (TYPE *)out;
  int32_t i;
  for (i = 0; i < p->vectors; ++i, input += p->in_n) {
    if (p->is_inverse) {
      fft_backward_KIND(p, input, output);
      output += 2 * p->count;
    } else {
      fft_forward_KIND(p, input, output);
      output += 2 * p->count + 2;
    }
  }
}
