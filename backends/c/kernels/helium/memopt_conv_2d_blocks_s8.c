/* CONV_2D, int8, NHWC, by Helium: two pixels times four channels at a time, sixteen taps a step.
 *
 * The windows of two pixels are put together in scratch as two columns of bytes, which all channels
 * read; a window that is one run of bytes is read where it lies. Two pixels are those that follow
 * one another, over the ends of rows, too.
 */
#include "memopt_common.h"
#include "memopt_finish_s8.h"

#include <string.h>

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int32_t *stream; /* of blocks, each of four channels: weights int8 [steps][4][16], where
                            those of missing taps and channels are 0; bias int32 [4]; multiplier
                            int32 [4]; code of memopt_requantize int8 [4]; 4 bytes for nobody */
  const uint8_t *wide;   /* of each block whether not all its codes are shifts to the right, or null
                            if none is so and no channel is missing */
} memopt_conv_2d_blocks_s8_params;

/* 0 where no convolution of the network has `wide`, so that nothing is there for it. */
#define MEMOPT_WITH_WIDE_BLOCKS 1

#define CONV_2D_BLOCKS_STEP 16 /* taps */
#define CONV_2D_BLOCKS_LAST 40 /* bytes behind the weights of a block */

/* What is done with windows x and y by the blocks from w to end: their results go to out0 and out1,
 * which move on. The assembly knows where each lies. */
typedef struct {
  const int8_t *x, *y;
  int32_t further; /* steps but the first */
  const int8_t *end;
  int8_t *out0, *out1;
  const int8_t *w;
  int32_t zero_point, act_min, act_max;
} conv_2d_blocks_work;

#if MEMOPT_MVE && defined(__GNUC__)
#define CONV_2D_BLOCKS_TAPS(mac)                                                      \
  "vldrb.8 q0, [r9], #16\n vldrb.8 q1, [r11], #16\n vldrb.8 q2, [r5], #16\n"          \
  "vldrb.8 q3, [r5], #16\n" mac ".s8 r0, q0, q2\n" mac ".s8 r8, q1, q2\n"             \
  "vldrb.8 q2, [r5], #16\n" mac ".s8 r2, q0, q3\n" mac ".s8 r10, q1, q3\n"            \
  "vldrb.8 q3, [r5], #16\n" mac ".s8 r4, q0, q2\n" mac ".s8 r12, q1, q2\n"            \
  mac ".s8 r6, q0, q3\n" mac ".s8 lr, q1, q3\n"

/* Eight sums take the even registers, as VMLADAVA wants them, LR among them: so no LE counts. With
 * biases they are in q0 and q1 at `last`, where r5 points at multipliers, and 24 bytes before what
 * is next at its end. */
#define CONV_2D_BLOCKS(last)                                                          \
  __asm__(                                                                            \
      ".syntax unified\n push {r4-r11, lr}\n vpush {d8-d15}\n"                        \
      "ldrd r2, r4, [r0, #28]\n ldr r6, [r0, #36]\n"                                  \
      "vdup.32 q4, r2\n vdup.32 q5, r4\n vdup.32 q6, r6\n"                            \
      "ldrd r1, r3, [r0, #16]\n ldr r5, [r0, #24]\n ldm r0, {r7, r8, r9, r10}\n"      \
      "push {r7, r8, r9, r10}\n"                                                      \
      "0:\n ldrd r9, r11, [sp]\n ldr r7, [sp, #8]\n" CONV_2D_BLOCKS_TAPS("vmladav")   \
      "lsrs r7, r7, #1\n bcc 1f\n" CONV_2D_BLOCKS_TAPS("vmladava")                    \
      "1:\n beq 3f\n"                                                                 \
      "2:\n" CONV_2D_BLOCKS_TAPS("vmladava") CONV_2D_BLOCKS_TAPS("vmladava")          \
      "subs r7, r7, #1\n bne 2b\n"                                                    \
      "3:\n vldrw.32 q2, [r5], #16\n"                                                 \
      "vmov q0[2], q0[0], r0, r4\n vmov q0[3], q0[1], r2, r6\n"                       \
      "vmov q1[2], q1[0], r8, r12\n vmov q1[3], q1[1], r10, lr\n"                     \
      "vadd.i32 q0, q0, q2\n vadd.i32 q1, q1, q2\n" last                              \
      "ldr r7, [sp, #12]\n cmp r5, r7\n bne 0b\n"                                     \
      "add sp, sp, #16\n vpop {d8-d15}\n pop {r4-r11, pc}\n")

/* Rounded twice, the second time half away from zero, as memopt_requantize does. */
#define CONV_2D_BLOCKS_PUT(q, out)                                                    \
  "vshr.s32 q3, " q ", #31\n vadd.i32 " q ", " q ", q3\n vrshl.s32 " q ", " q ", q2\n" \
  "vadd.i32 " q ", " q ", q4\n vmax.s32 " q ", " q ", q5\n vmin.s32 " q ", " q ", q6\n" \
  "vstrb.32 " q ", [" out "], #4\n"

__attribute__((naked, noinline)) static void conv_2d_blocks_run(
    const conv_2d_blocks_work *work __attribute__((unused))) {
  CONV_2D_BLOCKS("vldrw.32 q2, [r5], #16\n vqrdmulh.s32 q0, q0, q2\n vqrdmulh.s32 q1, q1, q2\n"
                 "vldrb.s32 q2, [r5], #8\n" CONV_2D_BLOCKS_PUT("q0", "r1")
                     CONV_2D_BLOCKS_PUT("q1", "r3"));
}

#if MEMOPT_ROUND_EVEN && (__ARM_FEATURE_MVE & 2)
/* Multipliers are floats; a conversion may saturate. */
#define CONV_2D_BLOCKS_FLOAT_PUT(q, out)                                              \
  "vqadd.s32 " q ", " q ", q4\n vmax.s32 " q ", " q ", q5\n vmin.s32 " q ", " q ", q6\n" \
  "vstrb.32 " q ", [" out "], #4\n"

/* Rounded as ONNX does. */
__attribute__((naked, noinline)) static void conv_2d_blocks_float(
    const conv_2d_blocks_work *work __attribute__((unused))) {
  CONV_2D_BLOCKS("vldrw.32 q2, [r5], #16\n vcvt.f32.s32 q0, q0\n vcvt.f32.s32 q1, q1\n"
                 "vmul.f32 q0, q0, q2\n vmul.f32 q1, q1, q2\n vcvtn.s32.f32 q0, q0\n"
                 "vcvtn.s32.f32 q1, q1\n adds r5, r5, #8\n"
                 CONV_2D_BLOCKS_FLOAT_PUT("q0", "r1") CONV_2D_BLOCKS_FLOAT_PUT("q1", "r3"));
}
#define CONV_2D_BLOCKS_FLOAT 2 /* in `wide`: of a block of four channels that round as ONNX does */
#endif /* MEMOPT_ROUND_EVEN */

/* The sums alone, as int32. */
__attribute__((naked, noinline)) static void conv_2d_blocks_sums(
    const conv_2d_blocks_work *work __attribute__((unused))) {
  CONV_2D_BLOCKS("vstrw.32 q0, [r1], #16\n vstrw.32 q1, [r3], #16\n adds r5, r5, #24\n");
}
#else
static void conv_2d_blocks_sums(const conv_2d_blocks_work *work) {
  const int8_t *w = work->w;
  int32_t *acc0 = (int32_t *)(void *)work->out0;
  int32_t *acc1 = (int32_t *)(void *)work->out1;
  while (w != work->end) {
    const int32_t weights = 4 * CONV_2D_BLOCKS_STEP * (work->further + 1);
    const int32_t *const bias = (const int32_t *)(const void *)(w + weights);
    int32_t c, step, i;
    for (c = 0; c < 4; ++c) {
      *acc0 = *acc1 = bias[c];
      for (step = 0; step <= work->further; ++step) {
        const int8_t *const taps = w + (4 * step + c) * CONV_2D_BLOCKS_STEP;
        for (i = 0; i < CONV_2D_BLOCKS_STEP; ++i) {
          *acc0 += work->x[step * CONV_2D_BLOCKS_STEP + i] * taps[i];
          *acc1 += work->y[step * CONV_2D_BLOCKS_STEP + i] * taps[i];
        }
      }
      ++acc0;
      ++acc1;
    }
    w += weights + CONV_2D_BLOCKS_LAST;
  }
}

static void conv_2d_blocks_run(const conv_2d_blocks_work *work) {
  conv_2d_blocks_work one = *work;
  const int32_t weights = 4 * CONV_2D_BLOCKS_STEP * (work->further + 1);
  int8_t *out0 = work->out0;
  int8_t *out1 = work->out1;
  for (; one.w != work->end; one.w = one.end) {
    const int32_t *const bias = (const int32_t *)(const void *)(one.w + weights);
    const int8_t *const code = (const int8_t *)(bias + 8);
    int32_t acc[2][4];
    int32_t c;
    one.end = one.w + weights + CONV_2D_BLOCKS_LAST;
    one.out0 = (int8_t *)(void *)acc[0];
    one.out1 = (int8_t *)(void *)acc[1];
    conv_2d_blocks_sums(&one);
    for (c = 0; c < 4; ++c) {
      const int32_t a = memopt_requantize(acc[0][c], bias[4 + c], code[c]) + one.zero_point;
      const int32_t b = memopt_requantize(acc[1][c], bias[4 + c], code[c]) + one.zero_point;
      *out0++ = (int8_t)memopt_clamp(a, one.act_min, one.act_max);
      *out1++ = (int8_t)memopt_clamp(b, one.act_min, one.act_max);
    }
  }
}
#endif

static inline void conv_2d_blocks_copy(int8_t *to, const int8_t *from, int32_t n) {
#if MEMOPT_MVE
  __asm__ volatile("wlstp.8 lr, %[n], 2f\n"
                   "1:\n vldrb.8 q0, [%[from]], #16\n vstrb.8 q0, [%[to]], #16\n letp lr, 1b\n"
                   "2:\n"
                   : [from] "+r"(from), [to] "+r"(to)
                   : [n] "r"(n)
                   : "q0", "lr", "memory");
#else
  memcpy(to, from, (size_t)n);
#endif
}

/* The window from row iy and column ix on, of which some may be padding, as bytes. */
static MEMOPT_NOINLINE void conv_2d_blocks_column(const memopt_conv_2d_blocks_s8_params *p,
                                                  const memopt_rows *rows, const void *const *in,
                                                  int32_t iy, int32_t ix, int32_t bytes,
                                                  int8_t *to) {
  const int32_t c = p->in_c;
  const int32_t row = p->k_w * c;
  const int32_t alike = p->dilation_w == 1; /* neighbours are one run */
  int32_t begin, end, first, last, n;
  memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &begin, &end);
  memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &first, &last);
  if (end - begin < p->k_w || last - first < p->k_h) {
    memset(to, p->input_zero_point, (size_t)bytes);
  }
  to += begin * c + first * row;
  ix += begin * p->dilation_w;
  n = end > begin ? last - first : 0;
  if (n > 0) {
    const int32_t number = iy + first * p->dilation_h - rows->in_first;
    const int32_t whole = rows->in_count == 1;
    const int32_t step = whole ? p->dilation_h * rows->in_stride : 0;
    const void *const *next = whole ? in : in + number;
    const int8_t *from = (const int8_t *)*next + (whole ? number * rows->in_stride : 0) + ix * c;
    for (;;) {
      if (alike) {
        conv_2d_blocks_copy(to, from, (end - begin) * c);
      } else {
        int32_t kx;
        for (kx = 0; kx < end - begin; ++kx) {
          conv_2d_blocks_copy(to + kx * c, from + kx * p->dilation_w * c, c);
        }
      }
      if (--n == 0) {
        break;
      }
      to += row;
      from += step;
      if (!whole) {
        next += p->dilation_h;
        from = (const int8_t *)*next + ix * c;
      }
    }
  }
}

/* The blocks of which some are wide, or lack channels. */
static MEMOPT_NOINLINE void conv_2d_blocks_mixed(const memopt_conv_2d_blocks_s8_params *p,
                                                 conv_2d_blocks_work *work) {
  const int32_t weights = 4 * CONV_2D_BLOCKS_STEP * (work->further + 1);
  const int8_t *const begin = work->w;
  const int8_t *const end = work->end;
  int8_t *const out0 = work->out0;
  int8_t *const out1 = work->out1;
  memopt_finish finish;
  int32_t oc;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  for (oc = 0; oc < p->out_c; work->w = work->end) {
    const int32_t *const bias = (const int32_t *)(const void *)(work->w + weights);
    const int32_t n = p->out_c - oc < 4 ? p->out_c - oc : 4;
    int32_t acc[2][4];
#if MEMOPT_ROUND_EVEN && (__ARM_FEATURE_MVE & 2) && MEMOPT_MVE
    if (p->wide[oc / 4] == CONV_2D_BLOCKS_FLOAT) { /* all are, but for one that lacks channels */
      work->end = work->w + p->out_c / 4 * (weights + CONV_2D_BLOCKS_LAST);
      conv_2d_blocks_float(work);
      oc = p->out_c & ~3;
      continue;
    }
#endif /* MEMOPT_ROUND_EVEN */
    if (n == 4 && !p->wide[oc / 4]) {
      work->end = work->w;
      work->out0 = out0 + oc;
      work->out1 = out1 + oc;
      for (; p->out_c - oc >= 4 && !p->wide[oc / 4]; oc += 4) {
        work->end += weights + CONV_2D_BLOCKS_LAST;
      }
      conv_2d_blocks_run(work);
      continue;
    }
    work->end = work->w + weights + CONV_2D_BLOCKS_LAST;
    work->out0 = (int8_t *)(void *)acc[0];
    work->out1 = (int8_t *)(void *)acc[1];
    conv_2d_blocks_sums(work);
    memopt_finish_s8(&finish, bias + 4, (const int8_t *)(bias + 8), n, acc[0], out0 + oc);
    memopt_finish_s8(&finish, bias + 4, (const int8_t *)(bias + 8), n, acc[1], out1 + oc);
    oc += n;
  }
  work->w = begin;
  work->end = end;
}

static inline void conv_2d_blocks_pixels(const memopt_conv_2d_blocks_s8_params *p,
                                         conv_2d_blocks_work *work) {
#if MEMOPT_ROUND_EVEN && (__ARM_FEATURE_MVE & 2) && MEMOPT_MVE
  if (p->wide && *p->wide == CONV_2D_BLOCKS_FLOAT && (p->out_c & 3) == 0) {
    conv_2d_blocks_float(work);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
  if (MEMOPT_WITH_WIDE_BLOCKS && p->wide) {
    conv_2d_blocks_mixed(p, work);
  } else {
    conv_2d_blocks_run(work);
  }
}

KERNEL {
  const int32_t taps = p->k_h * p->k_w * p->in_c;
  const int32_t steps = (taps + CONV_2D_BLOCKS_STEP - 1) / CONV_2D_BLOCKS_STEP;
  const int32_t bytes = steps * CONV_2D_BLOCKS_STEP;
  /* a step may read what is behind a window, if it is in the row: its weights are 0 */
  const int32_t one_run = p->k_h == 1 && (p->k_w == 1 || p->dilation_w == 1);
  const int32_t last = p->in_w - p->k_w; /* column of a window */
  const int32_t far = p->in_w * p->in_c - bytes;
  const int32_t run_last = last * p->in_c <= far ? last : far < 0 ? -1 : far / p->in_c;
  const int32_t blocks = (p->out_c + 3) / 4;
  int8_t *const column = (int8_t *)scratch;
  int32_t second = 0; /* of two pixels */
  conv_2d_blocks_work work;
  int32_t oy, ox;
  work.further = steps - 1;
  work.w = (const int8_t *)p->stream;
  work.end = work.w + blocks * (4 * bytes + CONV_2D_BLOCKS_LAST);
  work.zero_point = p->output_zero_point;
  work.act_min = p->act_min;
  work.act_max = p->act_max;
  work.x = work.y = 0;
  work.out0 = work.out1 = 0;
  memset(column, 0, (size_t)(2 * bytes)); /* what is behind a window */
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    const int32_t in_row = one_run && iy >= 0 && iy < p->in_h;
    const int8_t *const row = in_row ? (const int8_t *)memopt_in_row(rows, in, 0, iy) : 0;
    int8_t *to = (int8_t *)memopt_out_row(rows, out, oy);
    int32_t ix = -p->pad_left;
    for (ox = 0; ox < p->out_w; ++ox) {
      const int8_t *x = column + second * bytes;
      if (in_row && ix >= 0 && ix <= run_last) {
        x = row + ix * p->in_c;
      } else {
        conv_2d_blocks_column(p, rows, in, iy, ix, bytes, column + second * bytes);
      }
      if (second) {
        work.y = x;
        work.out1 = to;
        conv_2d_blocks_pixels(p, &work);
      } else {
        work.x = x;
        work.out0 = to;
      }
      second = !second;
      to += p->out_c;
      ix += p->stride_w;
    }
  }
  if (second) {
    work.y = work.x;
    work.out1 = work.out0;
    conv_2d_blocks_pixels(p, &work);
  }
}
