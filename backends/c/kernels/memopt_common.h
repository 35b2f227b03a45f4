/* What every kernel shares: how it is called, and the int8 requantisation.
 *
 * int8 arithmetic is that of TensorFlow Lite Micro ("double rounding"): first
 * SaturatingRoundingDoublingHighMul, then RoundingDivideByPOT (gemmlowp,
 * fixedpoint.h). Multipliers are never negative, so nothing can saturate.
 */
#ifndef MEMOPT_COMMON_H
#define MEMOPT_COMMON_H

#include <stdint.h>

#if defined(__cplusplus)
#define restrict __restrict /* a single file may be compiled as C++ */
#endif

/* 0 where what surrounds the loops that take the time is built for size. */
#define MEMOPT_SPECIALISE 1

#if MEMOPT_SPECIALISE || !defined(__GNUC__)
#define MEMOPT_SMALL
#elif defined(__clang__)
#define MEMOPT_SMALL __attribute__((cold))
#else
#define MEMOPT_SMALL __attribute__((cold, optimize("Os")))
#endif

/* 1 in what is written for networks in which operators round as ONNX's do. */
#define MEMOPT_ROUND_EVEN 0

#if MEMOPT_ROUND_EVEN
#include <string.h>
#endif

#if MEMOPT_ROUND_EVEN
/* 1 where the FPU of a Cortex-M converts to the nearest integer, halves to the even one: VCVTR by the
 * mode that FPSCR has after reset. */
#if defined(__arm__) && defined(__GNUC__) && (__ARM_FP & 4) && !defined(MEMOPT_NO_DSP)
#define MEMOPT_EVEN_FPU 1
#else
#define MEMOPT_EVEN_FPU 0
#endif

/* 1 on cores without an FPU, which round products by integers; there 1 where products have 32 bits. */
#if !defined(MEMOPT_EVEN_INTEGERS)
#if (defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen))
#define MEMOPT_EVEN_INTEGERS 1
#else
#define MEMOPT_EVEN_INTEGERS 0
#endif
#endif
#if !defined(MEMOPT_SHORT_PRODUCTS)
#if defined(__ARM_ARCH_6M__)
#define MEMOPT_SHORT_PRODUCTS 1
#else
#define MEMOPT_SHORT_PRODUCTS 0
#endif
#endif
#endif /* MEMOPT_ROUND_EVEN */

/* 0 where no image of the network is one pixel wide. */
#define MEMOPT_WITH_COLUMNS 1

/* A function of a header that several kernels call, and that is no better for being inlined: where
 * kernels are files the linker keeps one. How a network rounds may be its own. */
#if defined(__GNUC__) && !MEMOPT_ROUND_EVEN && !defined(MEMOPT_KERNEL)
#define MEMOPT_ONCE __attribute__((weak))
#else
#define MEMOPT_ONCE static
#endif

/* A project compiles kernels as files of their own; a single file makes them static. */
#ifndef MEMOPT_KERNEL
#define MEMOPT_KERNEL
#endif

/* Which rows a call computes, and where the rows that it reads lie: one kernel serves a whole
 * tensor, a single row, and several.
 *
 * `in` has in_count pointers for every operand, one operand after the other. One pointer means
 * that the rows of the operand lie in_stride bytes apart behind it, from row in_first on; several
 * are a pointer for each row from in_first on, wherever it lies. What no computed row reads may
 * be null.
 *
 * A virtual operand, such as tensors joined where they are read, is made row by row in
 * scratch (memopt_inlined.c), so that kernels need no form for it.
 */
typedef struct {
  int32_t out_begin;  /* first output row to compute: `out` points at it */
  int32_t out_end;    /* one past the last */
  int32_t out_stride; /* bytes from one output row to the next */
  int32_t in_first;   /* the input row that the first pointer of every operand points at */
  int32_t in_count;   /* pointers per operand */
  int32_t in_stride;  /* bytes from one input row to the next, if there is one pointer */
} memopt_rows;

/* Every kernel. `params` are its own, constant; `scratch` is the memory that it asked for when the
 * model was planned, null if it asked for none. Pointers are aligned to the elements that they
 * point at, `scratch` to 4 bytes. */
typedef void memopt_kernel(const void *params, const memopt_rows *rows, const void *const *in,
                           void *out, void *scratch);

/* Row `row` of an operand. */
static inline const void *memopt_in_row(const memopt_rows *rows, const void *const *in,
                                        int32_t operand, int32_t row) {
  const int32_t number = row - rows->in_first;
  if (rows->in_count == 1) {
    return (const uint8_t *)in[operand] + number * rows->in_stride;
  }
  return in[operand * rows->in_count + number];
}

/* An operand that stays from one run to the next, which a kernel may change. */
static inline void *memopt_state(const void *operand) { return (void *)(uintptr_t)operand; }

/* Row `row` of the result, one of those to compute. */
static inline void *memopt_out_row(const memopt_rows *rows, void *out, int32_t row) {
  return (uint8_t *)out + (row - rows->out_begin) * rows->out_stride;
}

/* An operator that sums over the rows of its operand does so in `parts` calls, or, where that is 0,
 * all in one. Call r adds row r to what call r - 1 has left, which is its second operand and may be
 * its result; the last one makes the result. */
typedef struct {
  const void *before; /* null in the first call */
  int32_t last;
  int32_t calls; /* at least 1 */
} memopt_part;

static inline memopt_part memopt_part_of(const memopt_rows *rows, const void *const *in,
                                         int32_t parts) {
  memopt_part part;
  part.before = parts > 0 && rows->out_begin > 0 ? in[rows->in_count] : 0;
  part.last = parts == 0 || rows->out_end == parts;
  part.calls = parts > 0 ? parts : 1;
  return part;
}

/* C99 leaves >> of a negative number to the compiler, which says here what it does. */
#if (-1 >> 1) == -1
#define MEMOPT_SHIFT_RIGHT(value, bits) ((value) >> (bits))
#else
#define MEMOPT_SHIFT_RIGHT(value, bits) ((value) < 0 ? ~(~(value) >> (bits)) : (value) >> (bits))
#endif

static inline int32_t memopt_shift_right(int32_t value, int32_t bits) {
  return MEMOPT_SHIFT_RIGHT(value, bits);
}

static inline int64_t memopt_shift_right_64(int64_t value, int32_t bits) {
  return MEMOPT_SHIFT_RIGHT(value, bits);
}

/* Wraps where a signed shift would be undefined; the models that TFLM can run never wrap. */
static inline int32_t memopt_shift_left(int32_t value, int32_t bits) {
  return (int32_t)((uint32_t)value << bits);
}

/* round(a * b / 2^31), ties upwards: equal to gemmlowp's nudge and truncating
 * division for every sign of a * b. Requires not (a == b == INT32_MIN). */
static inline int32_t memopt_high_mul(int32_t a, int32_t b) {
  return (int32_t)memopt_shift_right_64((int64_t)a * b + ((int64_t)1 << 30), 31);
}

/* round(value / 2^bits), ties away from zero. 0 <= bits <= 31. */
static inline int32_t memopt_round_shift(int32_t value, int32_t bits) {
  const int32_t mask = (int32_t)(((uint32_t)1 << bits) - 1u);
  const int32_t remainder = value & mask;
  const int32_t threshold = (mask >> 1) + (value < 0 ? 1 : 0);
  return memopt_shift_right(value, bits) + (remainder > threshold ? 1 : 0);
}

/* The same two for |value| < 2^30: fewer instructions, equal results. */
static inline int32_t memopt_high_mul_30(int32_t value, int32_t multiplier) {
#if defined(__ARM_FEATURE_DSP) && !defined(MEMOPT_NO_DSP)
  int32_t result;
  __asm__("smmulr %0, %1, %2" : "=r"(result) : "r"(value * 2), "r"(multiplier));
  return result;
#else
  const int64_t product = (int64_t)(value * 2) * multiplier; /* its low word rounds the high one */
  return (int32_t)memopt_shift_right_64(product, 32) + (int32_t)((uint32_t)product >> 31);
#endif
}

/* 1 <= bits <= 31. */
static inline int32_t memopt_round_shift_30(int32_t value, int32_t bits) {
  const int32_t half = (int32_t)((uint32_t)1 << (bits - 1));
  return memopt_shift_right(value + half - (value < 0 ? 1 : 0), bits);
}

/* Out of line: inlined, what is rare takes the registers of what is not. */
#if defined(__GNUC__)
#define MEMOPT_NOINLINE __attribute__((noinline, unused))
#else
#define MEMOPT_NOINLINE
#endif

/* In builds for size: a loop that takes most of a model's time, and what is made of it by what a call
 * says. It would take up to two and a half times as long. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE_SIZE__)
#define MEMOPT_FAST __attribute__((optimize("O2")))
#define MEMOPT_INLINE inline __attribute__((always_inline))
#else
#define MEMOPT_FAST
#define MEMOPT_INLINE inline
#endif

/* The nearest integer, halves to the even one, of what is clamped to +-1024: a float of 2^23 and
 * more has no fraction. */
static inline int32_t memopt_round_even(float value) {
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
  int32_t result;
  float steps;
  __asm__("vcvtr.s32.f32 %1, %2\n\tvmov %0, %1\n\tssat %0, #12, %0"
          : "=r"(result), "=&t"(steps)
          : "t"(value));
  return result;
#endif /* MEMOPT_ROUND_EVEN */
  const float clamped = value < -1024.0f ? -1024.0f : value > 1024.0f ? 1024.0f : value;
  const float whole = clamped + 12582912.0f;
  return (int32_t)(whole - 12582912.0f);
}

#if MEMOPT_ROUND_EVEN
/* `code` of a multiplier that is a float, given by its bits: the product is rounded to even. */
#define MEMOPT_EVEN 127
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_INTEGERS
/* The nearest integer to value / 2^bits, halves to the even one. */
static inline uint64_t memopt_shift_even(uint64_t value, int32_t bits) {
  if (bits == 0) {
    return value;
  }
  return (value + (((uint64_t)1 << (bits - 1)) - 1u) + (value >> bits & 1u)) >> bits;
}

/* By how much a float's integer of 24 bits is shifted to the right of this one. */
static inline int32_t memopt_float_shift(uint64_t value) {
  int32_t bits = 0;
  while (value >> bits >= (uint64_t)1 << 24) {
    ++bits;
  }
  return bits;
}

/* As float does it: value to 24 bits, the product to 24 bits, and that to an integer, each rounded;
 * clamped to +-1024. */
MEMOPT_SMALL
static MEMOPT_NOINLINE int32_t memopt_requantize_exact(int32_t value, int32_t multiplier) {
  const uint32_t bits = (uint32_t)multiplier;
  const int32_t exponent = (int32_t)(bits >> 23);
  const uint32_t size = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
  const int32_t first = memopt_float_shift(size);
  const uint32_t fraction = (bits & 0x7fffffu) | (exponent > 0 ? 0x800000u : 0u);
  const uint64_t exact = memopt_shift_even(size, first) * fraction;
  const int32_t second = memopt_float_shift(exact);
  const uint64_t rounded = memopt_shift_even(exact, second);
  const int32_t power = first + second + (exponent > 0 ? exponent : 1) - 150;
  uint64_t steps = 0;
  if (power >= 0) {
    steps = power > 10 && rounded > 0 ? 1024 : rounded << (power > 10 ? 10 : power);
  } else if (power > -25) {
    steps = memopt_shift_even(rounded, -power);
  }
  steps = steps > 1024 ? 1024 : steps;
  return value < 0 ? -(int32_t)steps : (int32_t)steps;
}

/* The product with `shift` bits behind the point, rounded down, plus a half; unless it may be so close
 * to a half, 2^-10, that floats would round it there. What is larger than 1024 is larger than any
 * result in both. */
static MEMOPT_NOINLINE int32_t memopt_requantize_near(int32_t value, int32_t multiplier) {
  const uint32_t bits = (uint32_t)multiplier;
#if MEMOPT_SHORT_PRODUCTS
  const int32_t shift = 138 - (int32_t)(bits >> 23);
  if ((uint32_t)(shift - 12) <= 17u && (uint32_t)value + (1u << 18) < 1u << 19) {
    const int32_t high = (int32_t)((bits >> 12 & 0x7ffu) | 0x800u);
    const int32_t low = memopt_shift_right(value * (int32_t)(bits & 0xfffu), 12);
    const int32_t steps = value * high + low + (1 << (shift - 1));
#else
  const int32_t shift = 133 - (int32_t)(bits >> 23);
  if ((uint32_t)(shift - 11) <= 18u && (uint32_t)value + ((1u << 23) - 1u) < (1u << 24) - 1u) {
    const int32_t fraction = (int32_t)((bits << 7 & 0x3fffffffu) | 0x40000000u);
    const int64_t product = (int64_t)memopt_shift_left(value, 8) * fraction;
    const int32_t steps = (int32_t)memopt_shift_right_64(product, 32) + (1 << (shift - 1));
#endif
    if (((uint32_t)steps << (32 - shift)) + (1u << 22) >= 1u << 23) {
      return memopt_shift_right(steps, shift);
    }
  }
  return memopt_requantize_exact(value, multiplier);
}
#endif /* MEMOPT_ROUND_EVEN */
static inline int32_t memopt_requantize_even(int32_t value, int32_t multiplier) {
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_INTEGERS
  return memopt_requantize_near(value, multiplier);
#endif /* MEMOPT_ROUND_EVEN */
  float real;
  memcpy(&real, &multiplier, sizeof real);
  return memopt_round_even((float)value * real);
}

/* Codes from this one on but for MEMOPT_EVEN: the product, rounded to even, is a line of integers. Sums
 * are below 2^23 in size; the emitter has tried each one beside a change of the result. */
#define MEMOPT_LINE 96

/* 0 where no channel of the network has one. */
#define MEMOPT_WITH_LINES 1

/* The high word of the product with what is not negative. */
static inline int32_t memopt_high_word(int32_t value, int32_t multiplier) {
#if MEMOPT_SHORT_PRODUCTS
  const int32_t high = memopt_shift_right(value, 16);
  const uint32_t low = (uint32_t)value & 0xffffu;
  const int32_t by_high = multiplier >> 16;
  const uint32_t by_low = (uint32_t)multiplier & 0xffffu;
  const int32_t across = high * (int32_t)by_low;
  const uint32_t carry = (low * by_low >> 16) + ((uint32_t)across & 0xffffu);
  const uint32_t middle = low * (uint32_t)by_high + carry;
  return high * by_high + memopt_shift_right(across, 16) + (int32_t)(middle >> 16);
#else
  return (int32_t)memopt_shift_right_64((int64_t)value * multiplier, 32);
#endif
}

static inline int32_t memopt_line(int32_t value, int32_t multiplier, int32_t code) {
  const int32_t steps = memopt_shift_left(value, 8) + (code - MEMOPT_LINE - 2);
  return memopt_shift_right(memopt_high_word(steps, multiplier) + 2048, 12);
}

/* The mean of `count` integers less their zero point, in steps of the result. */
static inline int32_t memopt_mean_even(int32_t sum, int32_t count, double scale,
                                       float output_scale) {
  return memopt_round_even((float)((double)sum * scale / count) / output_scale);
}
#endif

MEMOPT_SMALL
MEMOPT_ONCE MEMOPT_NOINLINE int32_t memopt_requantize_wide(int32_t value, int32_t multiplier,
                                                           int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  return memopt_round_shift(memopt_high_mul(memopt_shift_left(value, left), multiplier), right);
}

/* value * multiplier * 2^(shift - 31), rounded twice. `code` is the shift if it is to the right
 * and |value| < 2^30 (the emitter proves it of every accumulator of the channel), else the
 * shift + MEMOPT_WIDE. */
#define MEMOPT_WIDE 64
static inline int32_t memopt_requantize(int32_t value, int32_t multiplier, int32_t code) {
#if MEMOPT_ROUND_EVEN
#if MEMOPT_WITH_LINES && MEMOPT_EVEN_INTEGERS /* most are lines */
  if (code >= MEMOPT_LINE && code != MEMOPT_EVEN) {
    return memopt_line(value, multiplier, code);
  }
#endif
  if (code == MEMOPT_EVEN) {
    return memopt_requantize_even(value, multiplier);
  }
#if MEMOPT_WITH_LINES
  if (code >= MEMOPT_LINE) {
    return memopt_line(value, multiplier, code);
  }
#endif
#endif
  if (code >= 0) {
    return memopt_requantize_wide(value, multiplier, code - MEMOPT_WIDE);
  }
  return memopt_round_shift_30(memopt_high_mul_30(value, multiplier), -code);
}

/* value * multiplier * 2^-bits, rounded once, ties upwards; 1 <= bits <= 62. */
static inline int32_t memopt_requantize_once(int32_t value, int32_t multiplier, int32_t bits) {
  return (int32_t)(((int64_t)value * multiplier + ((int64_t)1 << (bits - 1))) >> bits);
}

static inline int32_t memopt_clamp(int32_t value, int32_t low, int32_t high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

/* -128 .. 127 */
static inline int32_t memopt_saturate_s8(int32_t value) {
#if defined(__GNUC__) && defined(__ARM_FEATURE_SAT)
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(value));
  return result;
#else
  return memopt_clamp(value, -128, 127);
#endif
}

static inline float memopt_clamp_f32(float value, float low, float high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

/* The taps [*begin, *end) of a window of `size` taps, `dilation` apart, that fall
 * inside [0, extent) when the first tap stands at `origin`. */
static inline void memopt_valid_taps(int32_t origin, int32_t extent, int32_t size,
                                     int32_t dilation, int32_t *begin, int32_t *end) {
  int32_t first = 0;
  int32_t last = size;
  if (origin < 0) {
    first = (-origin + dilation - 1) / dilation;
  }
  if (origin + (size - 1) * dilation >= extent) {
    last = origin < extent ? (extent - origin + dilation - 1) / dilation : 0;
  }
  if (first > last) {
    first = last;
  }
  *begin = first;
  *end = last;
}

#endif
