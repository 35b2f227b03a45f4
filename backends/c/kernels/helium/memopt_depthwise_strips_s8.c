/* DEPTHWISE_CONV_2D, int8, NHWC, a filter to a channel, by Helium: two pixels of eight channels at
 * a time.
 *
 * The rows under a row of the result are put together in scratch as a strip of sixteen channels,
 * column by column, padding included: the window of each pixel is one run of it.
 */
#include "memopt_common.h"
#include "memopt_finish_s8.h"

#include <string.h>

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h;
  int32_t pad_top, pad_left;
  int32_t span; /* pixels whose windows a strip holds */
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int32_t *stream; /* of eight channels at a time, those that are missing with zeros: bias and
                            multiplier int32 and code of memopt_requantize int8, each of the four
                            even ones before the odd ones; weights int8 [k_w][k_h][8], where an odd
                            number of taps is made of zeros */
  const uint8_t *kinds;  /* of each eight channels */
} memopt_depthwise_strips_s8_params;

enum {
  DEPTHWISE_STRIPS_PAIRS,  /* two taps fit into int16; all codes are shifts to the right */
  DEPTHWISE_STRIPS_SINGLE, /* one does; the same */
  DEPTHWISE_STRIPS_WIDE    /* not all are */
};

#if MEMOPT_ROUND_EVEN
#define DEPTHWISE_STRIPS_FLOAT 3       /* as SINGLE, of channels that round as ONNX does */
#define DEPTHWISE_STRIPS_FLOAT_PAIRS 4 /* as PAIRS */
#endif /* MEMOPT_ROUND_EVEN */

/* 0 where the network has no WIDE ones, so that nothing is there for them. */
#define MEMOPT_WITH_WIDE_STRIPS 1

#define DEPTHWISE_STRIPS_LANES 16  /* channels of a strip */
#define DEPTHWISE_STRIPS_HALF 8    /* channels at a time */
#define DEPTHWISE_STRIPS_BEFORE 72 /* bytes before the weights of eight channels */

/* What is done with the windows of `pixels` neighbours, `second` bytes apart. The assembly knows
 * where each field lies. */
typedef struct {
  const int8_t *window;
  int32_t second;
  int32_t further; /* rounds behind the first tap: of one tap, or of two */
  const int8_t *block;
  int8_t *out;
  int32_t out_step; /* bytes from pixel to pixel */
  int32_t pixels;
  int32_t channels;
  int32_t zero_point, act_min, act_max;
} depthwise_strips_work;

#if MEMOPT_MVE && defined(__GNUC__)
/* q1, q2 = the next tap of two pixels. */
#define DEPTHWISE_STRIPS_TAP                                                       \
  "vldrb.s16 q0, [r2], #8\n vldrb.s16 q1, [r0], #16\n vldrb.s16 q2, [r1], #16\n"   \
  "vmul.i16 q1, q1, q0\n vmul.i16 q2, q2, q0\n"

/* q1, q2 += the next tap. */
#define DEPTHWISE_STRIPS_SECOND                                                    \
  "vldrb.s16 q0, [r2], #8\n vldrb.s16 q3, [r0], #16\n vmul.i16 q3, q3, q0\n"       \
  "vadd.i16 q1, q1, q3\n vldrb.s16 q3, [r1], #16\n vmul.i16 q3, q3, q0\n"          \
  "vadd.i16 q2, q2, q3\n"

/* Sums of even channels and of odd ones += what was multiplied: q4, q5 and q6, q7. */
#define DEPTHWISE_STRIPS_ADD                                                       \
  "vmovlb.s16 q0, q1\n vadd.i32 q4, q4, q0\n vmovlt.s16 q3, q1\n"                  \
  "vadd.i32 q5, q5, q3\n vmovlb.s16 q0, q2\n vadd.i32 q6, q6, q0\n"                \
  "vmovlt.s16 q3, q2\n vadd.i32 q7, q7, q3\n"

/* The last of an odd number of pixels is computed twice, to the same place. */
#define DEPTHWISE_STRIPS(taps, last)                                               \
  __asm__(                                                                         \
      ".syntax unified\n push {r4-r11, lr}\n vpush {d8-d15}\n"                     \
      "ldrd r12, r10, [r0]\n ldrd r7, r6, [r0, #8]\n ldrd r3, r8, [r0, #16]\n"     \
      "ldrd r5, r2, [r0, #24]\n ldrd r11, r4, [r0, #32]\n ldr r1, [r0, #40]\n"     \
      "vctp.16 r2\n vdup.16 q0, r4\n vdup.16 q1, r1\n vpush {d0-d3}\n"             \
      "subs r5, r5, #2\n blt 3f\n"                                                 \
      "0:\n mov r0, r12\n add r1, r12, r10\n add r12, r1, r10\n add r2, r6, #72\n" \
      DEPTHWISE_STRIPS_TAP                                                         \
      "vldrw.32 q4, [r6]\n vldrw.32 q5, [r6, #16]\n vmov q6, q4\n vmov q7, q5\n"   \
      DEPTHWISE_STRIPS_ADD                                                         \
      "wls lr, r7, 2f\n 1:\n" taps DEPTHWISE_STRIPS_ADD "le lr, 1b\n 2:\n" last    \
      "subs r5, r5, #2\n bge 0b\n"                                                 \
      "3:\n cmn r5, #1\n bne 4f\n movs r5, #0\n mov r8, r5\n mov r10, r5\n b 0b\n" \
      "4:\n vpop {d0-d3}\n vpop {d8-d15}\n pop {r4-r11, pc}\n")

/* Rounded twice, the second time half away from zero, as memopt_requantize does. */
#define DEPTHWISE_STRIPS_ROUND(q, shift)                                           \
  "vshr.s32 q0, " q ", #31\n vadd.i32 " q ", " q ", q0\n vrshl.s32 " q ", " q ", " shift "\n"

/* Rounded sums of two pixels, with the zero point and clamped, to where r3 points. */
#define DEPTHWISE_STRIPS_STORE                                                     \
  "vqmovnb.s32 q4, q4\n vqmovnt.s32 q4, q5\n vqmovnb.s32 q6, q6\n"                 \
  "vqmovnt.s32 q6, q7\n vldrw.32 q0, [sp]\n vldrw.32 q1, [sp, #16]\n"              \
  "vqadd.s16 q4, q4, r11\n vqadd.s16 q6, q6, r11\n vmax.s16 q4, q4, q0\n"          \
  "vmax.s16 q6, q6, q0\n vmin.s16 q4, q4, q1\n vmin.s16 q6, q6, q1\n"              \
  "vpst\n vstrbt.16 q4, [r3]\n add r3, r3, r8\n"                                   \
  "vpst\n vstrbt.16 q6, [r3]\n add r3, r3, r8\n"

#define DEPTHWISE_STRIPS_PUT                                                       \
  "vldrw.32 q0, [r6, #32]\n vldrw.32 q1, [r6, #48]\n"                              \
  "vldrb.s32 q2, [r6, #64]\n vldrb.s32 q3, [r6, #68]\n"                            \
  "vqrdmulh.s32 q4, q4, q0\n vqrdmulh.s32 q5, q5, q1\n"                            \
  "vqrdmulh.s32 q6, q6, q0\n vqrdmulh.s32 q7, q7, q1\n"                            \
  DEPTHWISE_STRIPS_ROUND("q4", "q2") DEPTHWISE_STRIPS_ROUND("q5", "q3")            \
  DEPTHWISE_STRIPS_ROUND("q6", "q2") DEPTHWISE_STRIPS_ROUND("q7", "q3")            \
  DEPTHWISE_STRIPS_STORE

__attribute__((naked, noinline)) static void depthwise_strips_pairs(
    const depthwise_strips_work *work __attribute__((unused))) {
  DEPTHWISE_STRIPS(DEPTHWISE_STRIPS_TAP DEPTHWISE_STRIPS_SECOND, DEPTHWISE_STRIPS_PUT);
}

__attribute__((naked, noinline)) static void depthwise_strips_single(
    const depthwise_strips_work *work __attribute__((unused))) {
  DEPTHWISE_STRIPS(DEPTHWISE_STRIPS_TAP, DEPTHWISE_STRIPS_PUT);
}

#if MEMOPT_ROUND_EVEN && (__ARM_FEATURE_MVE & 2)
/* Multipliers are floats. */
#define DEPTHWISE_STRIPS_FLOAT_PUT                                                 \
  "vldrw.32 q0, [r6, #32]\n vldrw.32 q1, [r6, #48]\n"                              \
  "vcvt.f32.s32 q4, q4\n vcvt.f32.s32 q5, q5\n vcvt.f32.s32 q6, q6\n"               \
  "vcvt.f32.s32 q7, q7\n vmul.f32 q4, q4, q0\n vmul.f32 q5, q5, q1\n"               \
  "vmul.f32 q6, q6, q0\n vmul.f32 q7, q7, q1\n vcvtn.s32.f32 q4, q4\n"              \
  "vcvtn.s32.f32 q5, q5\n vcvtn.s32.f32 q6, q6\n vcvtn.s32.f32 q7, q7\n"            \
  DEPTHWISE_STRIPS_STORE

/* Rounded as ONNX does. */
__attribute__((naked, noinline)) static void depthwise_strips_float_pairs(
    const depthwise_strips_work *work __attribute__((unused))) {
  DEPTHWISE_STRIPS(DEPTHWISE_STRIPS_TAP DEPTHWISE_STRIPS_SECOND, DEPTHWISE_STRIPS_FLOAT_PUT);
}

__attribute__((naked, noinline)) static void depthwise_strips_float(
    const depthwise_strips_work *work __attribute__((unused))) {
  DEPTHWISE_STRIPS(DEPTHWISE_STRIPS_TAP, DEPTHWISE_STRIPS_FLOAT_PUT);
}
#endif /* MEMOPT_ROUND_EVEN */

/* The sums alone, as int32: of each of two pixels those of even channels before the odd ones. */
__attribute__((naked, noinline)) static void depthwise_strips_sums(
    const depthwise_strips_work *work __attribute__((unused))) {
  DEPTHWISE_STRIPS(DEPTHWISE_STRIPS_TAP, "vstrw.32 q4, [r3], #16\n vstrw.32 q5, [r3], #16\n"
                                         "vstrw.32 q6, [r3], #16\n vstrw.32 q7, [r3], #16\n");
}
#else
static void depthwise_strips_sums(const depthwise_strips_work *work) {
  const int32_t *const bias = (const int32_t *)(const void *)work->block;
  const int8_t *const w = work->block + DEPTHWISE_STRIPS_BEFORE;
  int32_t *acc = (int32_t *)(void *)work->out;
  int32_t pixel, c, tap;
  for (pixel = 0; pixel < work->pixels; ++pixel) {
    const int8_t *const x = work->window + pixel * work->second;
    for (c = 0; c < work->channels; ++c) {
      const int32_t at = c % 2 * 4 + c / 2;
      int32_t sum = bias[at];
      for (tap = 0; tap <= work->further; ++tap) {
        sum += x[tap * DEPTHWISE_STRIPS_LANES + c] * w[tap * DEPTHWISE_STRIPS_HALF + c];
      }
      acc[at] = sum;
    }
    acc += DEPTHWISE_STRIPS_HALF;
  }
}
#endif

/* By two pixels, with any code. */
static MEMOPT_NOINLINE void depthwise_strips_wide(const depthwise_strips_work *all) {
  const int32_t *const multipliers = (const int32_t *)(const void *)(all->block + 32);
  const int8_t *const codes = all->block + 64;
  depthwise_strips_work work = *all;
  int32_t multiplier[DEPTHWISE_STRIPS_HALF];
  int8_t code[DEPTHWISE_STRIPS_HALF];
  int8_t *out = all->out;
  memopt_finish finish;
  int32_t left, i;
  finish.zero_point = all->zero_point;
  finish.act_min = all->act_min;
  finish.act_max = all->act_max;
  finish.step = 1;
  for (i = 0; i < DEPTHWISE_STRIPS_HALF; ++i) {
    multiplier[i] = multipliers[i % 2 * 4 + i / 2];
    code[i] = codes[i % 2 * 4 + i / 2];
  }
  for (left = all->pixels; left > 0; left -= 2) {
    int32_t acc[2 * DEPTHWISE_STRIPS_HALF];
    int32_t pixel;
    work.pixels = left < 2 ? left : 2;
    work.out = (int8_t *)(void *)acc;
    depthwise_strips_sums(&work);
    for (pixel = 0; pixel < work.pixels; ++pixel) {
      int32_t sums[DEPTHWISE_STRIPS_HALF];
      for (i = 0; i < all->channels; ++i) {
        sums[i] = acc[pixel * DEPTHWISE_STRIPS_HALF + i % 2 * 4 + i / 2];
      }
      memopt_finish_s8(&finish, multiplier, code, all->channels, sums, out);
      out += all->out_step;
    }
    work.window += 2 * work.second;
  }
}

static inline void depthwise_strips_run(depthwise_strips_work *work, int32_t kind, int32_t taps) {
  work->further = taps - 1;
#if MEMOPT_ROUND_EVEN
  if (kind >= DEPTHWISE_STRIPS_FLOAT) {
#if !(MEMOPT_MVE && defined(__GNUC__) && (__ARM_FEATURE_MVE & 2))
    depthwise_strips_wide(work);
#else
    if (kind == DEPTHWISE_STRIPS_FLOAT) {
      depthwise_strips_float(work);
    } else {
      work->further /= 2;
      depthwise_strips_float_pairs(work);
    }
#endif
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
#if MEMOPT_MVE && defined(__GNUC__)
  if (kind == DEPTHWISE_STRIPS_PAIRS) {
    work->further /= 2;
    depthwise_strips_pairs(work);
    return;
  }
  if (!MEMOPT_WITH_WIDE_STRIPS || kind == DEPTHWISE_STRIPS_SINGLE) {
    depthwise_strips_single(work);
    return;
  }
#else
  (void)kind;
#endif
  depthwise_strips_wide(work);
}

/* n channels of `columns` neighbours, each `c` further, to every `step` bytes; or, if from is null,
 * `value` to there. What is behind n channels may be anything, but is read only of the first `safe`
 * columns. */
static inline int8_t *depthwise_strips_copy(int8_t *to, const int8_t *from, int32_t columns,
                                            int32_t step, int32_t c, int32_t n, int32_t safe) {
#if MEMOPT_MVE && defined(__GNUC__)
  if (safe > 0) {
    columns -= safe;
    __asm__ volatile("wls lr, %[n], 2f\n"
                     "1:\n vldrb.8 q0, [%[from]]\n add %[from], %[from], %[c]\n"
                     "vstrb.8 q0, [%[to]]\n add %[to], %[to], %[step]\n le lr, 1b\n"
                     "2:\n"
                     : [from] "+r"(from), [to] "+r"(to)
                     : [n] "r"(safe), [c] "r"(c), [step] "r"(step)
                     : "q0", "lr", "memory");
  }
#else
  (void)safe;
#endif
  for (; columns > 0; --columns) {
    memcpy(to, from, (size_t)n);
    from += c;
    to += step;
  }
  return to;
}

static inline int8_t *depthwise_strips_fill(int8_t *to, int32_t value, int32_t columns,
                                            int32_t step) {
  for (; columns > 0; --columns) {
#if MEMOPT_MVE
    vstrbq_s8(to, vdupq_n_s8((int8_t)value));
#else
    memset(to, value, DEPTHWISE_STRIPS_LANES);
#endif
    to += step;
  }
  return to;
}

/* n channels from c on, of `columns` columns from column ix on, some of which may be padding. */
static MEMOPT_NOINLINE void depthwise_strips_pack(const memopt_depthwise_strips_s8_params *p,
                                                  const memopt_rows *rows, const void *const *in,
                                                  int32_t iy, int32_t ix, int32_t columns,
                                                  int32_t c, int32_t n, int8_t *strip) {
  const int32_t step = p->k_h * DEPTHWISE_STRIPS_LANES;
  const int32_t begin = ix < 0 ? (-ix < columns ? -ix : columns) : 0;
  const int32_t inside = p->in_w - ix < columns ? p->in_w - ix : columns; /* end */
  const int32_t end = inside < begin ? begin : inside;
  /* a vector may read what is behind n channels, if it is in the row */
  const int32_t far = p->in_w * p->in_c - DEPTHWISE_STRIPS_LANES - c;
  const int32_t read = far < 0 ? 0 : far / p->in_c + 1 - ix - begin;
  const int32_t safe = read < 0 ? 0 : read < end - begin ? read : end - begin;
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    int8_t *to = strip;
    if (iy < 0 || iy >= p->in_h) {
      depthwise_strips_fill(to, p->input_zero_point, columns, step);
    } else {
      const int8_t *const row = (const int8_t *)memopt_in_row(rows, in, 0, iy) + c;
      to = depthwise_strips_fill(to, p->input_zero_point, begin, step);
      to = depthwise_strips_copy(to, row + (ix + begin) * p->in_c, end - begin, step, p->in_c, n,
                                 safe);
      depthwise_strips_fill(to, p->input_zero_point, columns - end, step);
    }
    strip += DEPTHWISE_STRIPS_LANES;
    iy += p->dilation_h;
  }
}

KERNEL {
  const int32_t taps = (p->k_h * p->k_w) | 1;
  const int32_t bytes = DEPTHWISE_STRIPS_BEFORE + DEPTHWISE_STRIPS_HALF * taps;
  int8_t *const strip = (int8_t *)scratch;
  depthwise_strips_work work;
  int32_t oy, c, ox;
  work.second = p->stride_w * p->k_h * DEPTHWISE_STRIPS_LANES;
  work.out_step = p->in_c;
  work.zero_point = p->output_zero_point;
  work.act_min = p->act_min;
  work.act_max = p->act_max;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *const to = (int8_t *)memopt_out_row(rows, out, oy);
    const int8_t *block = (const int8_t *)p->stream;
    const uint8_t *kind = p->kinds;
    for (c = 0; c < p->in_c; c += DEPTHWISE_STRIPS_LANES) {
      const int32_t left = p->in_c - c;
      const int32_t n = left < DEPTHWISE_STRIPS_LANES ? left : DEPTHWISE_STRIPS_LANES;
      const int32_t halves = n > DEPTHWISE_STRIPS_HALF ? 2 : 1;
      for (ox = 0; ox < p->out_w; ox += p->span) {
        const int32_t ix = ox * p->stride_w - p->pad_left;
        int32_t half;
        work.pixels = p->out_w - ox < p->span ? p->out_w - ox : p->span;
        depthwise_strips_pack(p, rows, in, iy, ix, (work.pixels - 1) * p->stride_w + p->k_w, c, n,
                              strip);
        for (half = 0; half < halves; ++half) {
          const int32_t more = half * DEPTHWISE_STRIPS_HALF;
          const int32_t channels = n - more;
          work.window = strip + more;
          work.block = block + half * bytes;
          work.out = to + ox * p->in_c + c + more;
          work.channels = channels < DEPTHWISE_STRIPS_HALF ? channels : DEPTHWISE_STRIPS_HALF;
          depthwise_strips_run(&work, kind[half], taps);
        }
      }
      block += halves * bytes;
      kind += halves;
    }
  }
}
