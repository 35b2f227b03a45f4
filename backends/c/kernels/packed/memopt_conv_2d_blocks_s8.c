/* CONV_2D, int8, NHWC, by Helium: two pixels times four channels at a time, sixteen taps a step.
 *
 * The windows of two neighbours are put together in scratch as two columns of bytes, which all
 * channels read; a 1x1 window whose channels are whole steps is read where it lies. The weights of
 * four channels stand together, sixteen taps of each after the other; taps behind the last are 0.
 */
#include "memopt_common.h"
#include "memopt_finish_s8.h"

#include <string.h>

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c; /* out_c: a multiple of 4 */
  int32_t k_h, k_w, k_c; /* k_c = in_c */
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int8_t *weights;     /* [out_c / 4][steps][4][16] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_conv_2d_blocks_s8_params;

#define CONV_2D_BLOCKS_STEP 16 /* taps */

/* acc0, acc1 = bias + x.w, bias + y.w of `blocks` times four channels. */
#if MEMOPT_MVE && defined(__GNUC__)
/* Eight sums take the even registers, as VMLADAVA wants them, LR among them: so no LE counts. */
__attribute__((naked, noinline)) static void conv_2d_blocks_sums(
    const int8_t *x __attribute__((unused)), const int8_t *y __attribute__((unused)),
    const int8_t *w __attribute__((unused)), int32_t steps __attribute__((unused)),
    const int32_t *bias __attribute__((unused)), int32_t *acc0 __attribute__((unused)),
    int32_t *acc1 __attribute__((unused)), int32_t blocks __attribute__((unused))) {
  __asm__(
      ".syntax unified\n push {r4-r11, lr}\n mov r5, r2\n push {r0, r1, r3}\n"
      "0:\n ldr r9, [sp, #48]\n ldr r1, [sp]\n ldr r3, [sp, #4]\n ldr r7, [sp, #8]\n"
      "ldm r9!, {r0, r2, r4, r6}\n mov r8, r0\n mov r10, r2\n mov r12, r4\n mov lr, r6\n"
      "1:\n vldrb.8 q0, [r1], #16\n vldrb.8 q2, [r5], #16\n vmladava.s8 r0, q0, q2\n"
      "vldrb.8 q1, [r3], #16\n vmladava.s8 r8, q1, q2\n"
      "vldrb.8 q3, [r5], #16\n vmladava.s8 r2, q0, q3\n vmladava.s8 r10, q1, q3\n"
      "vldrb.8 q2, [r5], #16\n vmladava.s8 r4, q0, q2\n vmladava.s8 r12, q1, q2\n"
      "vldrb.8 q3, [r5], #16\n vmladava.s8 r6, q0, q3\n vmladava.s8 lr, q1, q3\n"
      "subs r7, r7, #1\n bne 1b\n"
      "ldr r1, [sp, #52]\n ldr r3, [sp, #56]\n ldr r7, [sp, #60]\n"
      "stm r1!, {r0, r2, r4, r6}\n stm r3!, {r8, r10, r12, lr}\n subs r7, r7, #1\n"
      "str r9, [sp, #48]\n str r1, [sp, #52]\n str r3, [sp, #56]\n str r7, [sp, #60]\n bne 0b\n"
      "add sp, sp, #12\n pop {r4-r11, pc}\n");
}
#else
static void conv_2d_blocks_sums(const int8_t *x, const int8_t *y, const int8_t *w, int32_t steps,
                                const int32_t *bias, int32_t *acc0, int32_t *acc1,
                                int32_t blocks) {
  int32_t c, step, i;
  for (; blocks > 0; --blocks) {
    for (c = 0; c < 4; ++c) {
      acc0[c] = acc1[c] = bias[c];
      for (step = 0; step < steps; ++step) {
        const int8_t *const taps = w + (4 * step + c) * CONV_2D_BLOCKS_STEP;
        for (i = 0; i < CONV_2D_BLOCKS_STEP; ++i) {
          acc0[c] += x[step * CONV_2D_BLOCKS_STEP + i] * taps[i];
          acc1[c] += y[step * CONV_2D_BLOCKS_STEP + i] * taps[i];
        }
      }
    }
    w += 4 * steps * CONV_2D_BLOCKS_STEP;
    bias += 4;
    acc0 += 4;
    acc1 += 4;
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

/* The window from column ix on, of which some may be padding, as bytes. */
static MEMOPT_NOINLINE void conv_2d_blocks_column(const memopt_conv_2d_blocks_s8_params *p,
                                                  const memopt_rows *rows, const void *const *in,
                                                  int32_t iy, int32_t ix, int32_t bytes,
                                                  int8_t *to) {
  const int32_t c = p->in_c;
  const int32_t alike = p->dilation_w == 1; /* neighbours are one run */
  int32_t begin, end, ky, kx;
  memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &begin, &end);
  if (end - begin < p->k_w || iy < 0 || iy + (p->k_h - 1) * p->dilation_h >= p->in_h) {
    memset(to, p->input_zero_point, (size_t)bytes);
  }
  to += begin * c;
  for (ky = 0; ky < p->k_h; ++ky) {
    if (iy >= 0 && iy < p->in_h && begin < end) {
      const int8_t *const row = memopt_in_row(rows, in, 0, iy);
      const int8_t *from = row + (ix + begin * p->dilation_w) * c;
      int8_t *at = to;
      for (kx = begin; kx < end; kx += alike ? end - begin : 1) {
        conv_2d_blocks_copy(at, from, alike ? (end - begin) * c : c);
        from += p->dilation_w * c;
        at += c;
      }
    }
    to += p->k_w * c;
    iy += p->dilation_h;
  }
}

/* One or two pixels whose windows are x and y. */
static void conv_2d_blocks_pixels(const memopt_conv_2d_blocks_s8_params *p, const int8_t *x,
                                  const int8_t *y, int32_t steps, const memopt_finish *finish,
                                  int32_t two, int8_t *out) {
  const int8_t *w = p->weights;
  int32_t oc;
  for (oc = 0; oc < p->out_c; oc += MEMOPT_TILE) {
    const int32_t n = p->out_c - oc < MEMOPT_TILE ? p->out_c - oc : MEMOPT_TILE;
    int32_t acc[2][MEMOPT_TILE];
    conv_2d_blocks_sums(x, y, w, steps, p->bias + oc, acc[0], acc[1], n / 4);
    memopt_finish_s8(finish, p->multiplier + oc, p->shift + oc, n, acc[0], out + oc);
    if (two) {
      memopt_finish_s8(finish, p->multiplier + oc, p->shift + oc, n, acc[1], out + p->out_c + oc);
    }
    w += n * steps * CONV_2D_BLOCKS_STEP;
  }
}

MEMOPT_KERNEL void memopt_conv_2d_blocks_s8(const void *params, const memopt_rows *rows,
                                            const void *const *in, void *out, void *scratch) {
  const memopt_conv_2d_blocks_s8_params *p = params;
  const int32_t taps = p->k_h * p->k_w * p->in_c;
  const int32_t steps = (taps + CONV_2D_BLOCKS_STEP - 1) / CONV_2D_BLOCKS_STEP;
  const int32_t bytes = steps * CONV_2D_BLOCKS_STEP;
  const int32_t in_place = p->k_h * p->k_w == 1 && p->pad_top + p->pad_left == 0 && taps == bytes;
  int8_t *const column = scratch;
  memopt_finish finish;
  int32_t oy, ox;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  memset(column, 0, (size_t)(2 * bytes)); /* what is behind a window has weights of 0 */
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *const to = memopt_out_row(rows, out, oy);
    for (ox = 0; ox < p->out_w; ox += 2) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      const int32_t two = ox + 1 < p->out_w;
      const int8_t *x = column;
      const int8_t *y = column + (two ? bytes : 0);
      /* a 1x1 window may still lie outside: the image may be padded below and on the right */
      if (in_place && iy < p->in_h && ix + (two ? p->stride_w : 0) < p->in_w) {
        x = (const int8_t *)memopt_in_row(rows, in, 0, iy) + ix * p->in_c;
        y = x + (two ? p->stride_w * p->in_c : 0);
      } else {
        conv_2d_blocks_column(p, rows, in, iy, ix, bytes, column);
        if (two) {
          conv_2d_blocks_column(p, rows, in, iy, ix + p->stride_w, bytes, column + bytes);
        }
      }
      conv_2d_blocks_pixels(p, x, y, steps, &finish, two, to + ox * p->out_c);
    }
  }
}
