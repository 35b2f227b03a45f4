/* KIND  TYPE     LEAST  LESS
 * s8    int8_t   -128   ssub8
 * u8    uint8_t  0      usub8
 */
/* SOFTMAX of bytes over any axis, KIND, to bytes, rounded as ONNX's, without floats: [rows][depth][inner],
 * of which each [depth] is one vector. */
#include "memopt_dsp_s8.h"
#include "memopt_softmax_even.h"

typedef struct {
  int32_t depth, inner;
  const uint32_t *exponential; /* of 0 to 255 steps below the largest, in 2^-31, multiples of 2^-24 */
  float output_scale;
  int32_t output_zero_point;
  int32_t most; /* steps above zero */
} memopt_softmax_even_KIND_params;

/* The largest of a vector of neighbours. */
static inline int32_t softmax_even_KIND_most(const TYPE *x, const TYPE *end) {
  int32_t most = LEAST;
#if MEMOPT_DOT_DSP
  if (end - x >= 4) {
    uint32_t four = memopt_load_s8x4((const int8_t *)x);
    int32_t k;
    for (x += 4; end - x >= 4; x += 4) {
      const uint32_t word = memopt_load_s8x4((const int8_t *)x);
      uint32_t less;
      __asm__("LESS %1, %2, %0\n\tsel %0, %2, %0" : "+r"(four), "=&r"(less) : "r"(word));
    }
    for (k = 0; k < 4; ++k) {
      most = (TYPE)(four >> 8 * k) > most ? (TYPE)(four >> 8 * k) : most;
    }
  }
#endif
  for (; x != end; ++x) {
    most = *x > most ? *x : most;
  }
  return most;
}

/* A vector of elements `inner` apart, which is a constant 1 if they are neighbours. */
MEMOPT_FAST
static MEMOPT_INLINE void softmax_even_KIND(const memopt_softmax_even_KIND_params *p, const TYPE *input,
                              uint8_t *output, const int32_t inner) {
  const uint32_t *const exponential = p->exponential;
  const uint32_t largest = (uint32_t)p->most;
  const int32_t zero_point = p->output_zero_point;
  const TYPE *const end = input + p->depth * inner;
  const TYPE *x;
  int32_t most = LEAST;
  uint32_t factor, near;
  uint64_t total = 0;
  memopt_softmax_even even;
  if (inner == 1) {
    most = softmax_even_KIND_most(input, end);
  } else {
    for (x = input; x != end; x += inner) {
      most = *x > most ? *x : most;
    }
  }
  for (x = input; x != end;) {
    const int32_t added = SOFTMAX_EVEN_ADDED * inner;
    const TYPE *const stop = end - x > added ? x + added : end;
    uint32_t sum = 0;
    for (; stop - x >= 4 * inner; x += 4 * inner) {
      sum += exponential[most - x[0]] >> SOFTMAX_EVEN_SPARE;
      sum += exponential[most - x[inner]] >> SOFTMAX_EVEN_SPARE;
      sum += exponential[most - x[2 * inner]] >> SOFTMAX_EVEN_SPARE;
      sum += exponential[most - x[3 * inner]] >> SOFTMAX_EVEN_SPARE;
    }
    for (; x != stop; x += inner) {
      sum += exponential[most - *x] >> SOFTMAX_EVEN_SPARE;
    }
    total += sum;
  }
  even = memopt_softmax_even_of(total, p->output_scale);
  factor = even.factor;
  near = even.near;
  for (; input != end; input += inner) {
    uint32_t steps = memopt_softmax_even_steps(&even, factor, near, exponential[most - *input]);
    steps = steps < largest ? steps : largest;
    *output = (uint8_t)((int32_t)steps + zero_point);
    output += inner;
  }
}

/* The same of neighbours alone. */
MEMOPT_FAST
static MEMOPT_NOINLINE void softmax_even_KIND_row(const memopt_softmax_even_KIND_params *p, const TYPE *input,
                                  uint8_t *output) {
  softmax_even_KIND(p, input, output, 1);
}

MEMOPT_FAST
static MEMOPT_NOINLINE void softmax_even_KIND_across(const memopt_softmax_even_KIND_params *p,
                                     const TYPE *input, uint8_t *output) {
  softmax_even_KIND(p, input, output, p->inner);
}

/* `output` may be `input`. */
KERNEL(scratch) {
  int32_t row, first;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    uint8_t *output = (uint8_t *)memopt_out_row(rows, out, row);
    if (p->inner == 1) {
      softmax_even_KIND_row(p, input, output);
      continue;
    }
    for (first = 0; first < p->inner; ++first) {
      softmax_even_KIND_across(p, input + first, output + first);
    }
  }
}
