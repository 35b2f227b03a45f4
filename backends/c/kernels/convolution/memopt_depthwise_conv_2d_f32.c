/* DEPTHWISE_CONV_2D, float32, NHWC, weights [1][k_h][k_w][out_c], any depth multiplier. */
#include "memopt_common.h"

#include <stddef.h>

#include <stddef.h>

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, depth_multiplier; /* out_c = in_c * depth_multiplier */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  const float *weights; /* [k_h][k_w][out_c] */
  const float *bias;    /* [out_c] */
} memopt_depthwise_conv_2d_f32_params;

/* The taps of one output pixel that fall inside the input: in `rows` kernel rows, in none if all
 * taps are padding. */
typedef struct {
  const void *const *next; /* null, or the pointers to those rows, which are anywhere, next_step
                              apart */
  int32_t next_step;
  int32_t ky_begin, ky_end, kx_begin, kx_end;
  int32_t rows;
  const float *row;     /* the input row of the first tap */
  const float *x;       /* channel 0 of that tap */
  int32_t x_row, x_col; /* elements between two taps in the input */
  int32_t w_row, out_c; /* weights between two kernel rows, two taps */
} depthwise_f32_window;

/* Cortex-M4F and its like: several words are loaded at a time, which takes a cycle less for each.
 * The numbers are those of the loop in C. */
#if defined(__OPTIMIZE__) && !defined(__clang__) && defined(__ARM_ARCH_7EM__) && \
    defined(__ARM_FP)
#define DEPTHWISE_F32_ASM 1
#define DEPTHWISE_F32_TWO(x0, w0, x1, w1) \
  "vmul.f32 " x0 ", " x0 ", " w0 "\n vmul.f32 " x1 ", " x1 ", " w1 "\n"
#define DEPTHWISE_F32_ADD(a0, x0, a1, x1) \
  "vadd.f32 " a0 ", " a0 ", " x0 "\n vadd.f32 " a1 ", " a1 ", " x1 "\n"

/* acc = the taps of eight neighbouring channels, each with an input channel of its own, from x and
 * w on. */
MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_f32_eight(const depthwise_f32_window *v, const float *x,
                                                const float *w, float *acc) {
  const int32_t columns = v->kx_end - v->kx_begin;
  const int32_t behind = 4 * columns;
  const int32_t moves[4] = {columns, 4 * v->w_row - behind * v->out_c,
                            4 * v->x_row - behind * v->x_col, 4 * v->next_step};
  const void *const *next = v->next;
  const ptrdiff_t at = (const char *)x - (const char *)v->row;
  int32_t rows = v->rows;
  int32_t n;
  __asm__ volatile(
      "mov %[n], #0\n"
      "vmov s16, %[n]\n vmov s17, %[n]\n vmov s18, %[n]\n vmov s19, %[n]\n"
      "vmov s20, %[n]\n vmov s21, %[n]\n vmov s22, %[n]\n vmov s23, %[n]\n"
      "1:\n"
      "ldr %[n], [%[moves]]\n"
      "2:\n"
      "vldmia %[x], {s0-s7}\n vldmia %[w], {s8-s15}\n"
      DEPTHWISE_F32_TWO("s0", "s8", "s1", "s9") DEPTHWISE_F32_TWO("s2", "s10", "s3", "s11")
      DEPTHWISE_F32_TWO("s4", "s12", "s5", "s13") DEPTHWISE_F32_TWO("s6", "s14", "s7", "s15")
      "add %[x], %[x], %[x_col]\n add %[w], %[w], %[w_col]\n"
      DEPTHWISE_F32_ADD("s16", "s0", "s17", "s1") DEPTHWISE_F32_ADD("s18", "s2", "s19", "s3")
      DEPTHWISE_F32_ADD("s20", "s4", "s21", "s5") DEPTHWISE_F32_ADD("s22", "s6", "s23", "s7")
      "subs %[n], %[n], #1\n"
      "bgt 2b\n"
      "subs %[rows], %[rows], #1\n"
      "beq 4f\n"
      "ldr %[n], [%[moves], #4]\n"
      "add %[w], %[w], %[n]\n"
      "cmp %[next], #0\n"
      "beq 3f\n"
      "ldr %[n], [%[moves], #12]\n"
      "add %[next], %[next], %[n]\n"
      "ldr %[x], [%[next]]\n"
      "add %[x], %[x], %[at]\n"
      "b 1b\n"
      "3:\n"
      "ldr %[n], [%[moves], #8]\n"
      "add %[x], %[x], %[n]\n"
      "b 1b\n"
      "4:\n"
      "vstmia %[acc], {s16-s23}\n"
      : [x] "+r"(x), [w] "+r"(w), [next] "+r"(next), [rows] "+r"(rows), [n] "=&r"(n)
      : [acc] "r"(acc), [moves] "r"(moves), [at] "r"(at), [x_col] "r"(4 * v->x_col),
        [w_col] "r"(4 * v->out_c)
      : "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
        "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23");
}
#else
#define DEPTHWISE_F32_ASM 0
#endif

/* A sum of all taps of one channel as a result. */
static inline float depthwise_f32_result(const memopt_depthwise_conv_2d_f32_params *p, int32_t oc,
                                         float sum) {
  return memopt_clamp_f32(sum + p->bias[oc], p->act_min, p->act_max);
}

/* Four channels from oc on. x_channel is 1 if each has an input channel of its own, from ic on, 0
 * if they share it. */
static inline void depthwise_f32_four(const memopt_depthwise_conv_2d_f32_params *p,
                                      const depthwise_f32_window *v, int32_t oc, int32_t ic,
                                      const int32_t x_channel, float *out) {
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  const void *const *next = v->next;
  const int32_t columns = v->kx_end - v->kx_begin;
  const float *x = v->x + ic;
  const ptrdiff_t at = x - v->row;
  float a0 = 0.0f;
  float a1 = 0.0f;
  float a2 = 0.0f;
  float a3 = 0.0f;
  int32_t rows = v->rows;
  for (;;) {
    const float *xt = x;
    const float *wt = w;
    int32_t n = columns;
    do {
      a0 += xt[0] * wt[0];
      a1 += xt[x_channel] * wt[1];
      a2 += xt[2 * x_channel] * wt[2];
      a3 += xt[3 * x_channel] * wt[3];
      xt += v->x_col;
      wt += v->out_c;
    } while (--n > 0);
    if (--rows == 0) {
      break;
    }
    w += v->w_row;
    if (next) {
      next += v->next_step;
      x = (const float *)*next + at;
    } else {
      x += v->x_row;
    }
  }
  out[oc] = depthwise_f32_result(p, oc, a0);
  out[oc + 1] = depthwise_f32_result(p, oc + 1, a1);
  out[oc + 2] = depthwise_f32_result(p, oc + 2, a2);
  out[oc + 3] = depthwise_f32_result(p, oc + 3, a3);
}

MEMOPT_FAST
static void depthwise_f32_one(const memopt_depthwise_conv_2d_f32_params *p,
                              const depthwise_f32_window *v, int32_t oc, int32_t ic,
                              float *out) {
  const float *w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c + oc;
  const float *x = v->x + ic;
  const ptrdiff_t at = x - v->row;
  float acc = 0.0f;
  int32_t row;
  for (row = 0; row < v->rows; ++row) {
    const float *wt = w;
    int32_t n;
    if (v->next) {
      x = (const float *)v->next[row * v->next_step] + at;
    }
    for (n = 0; n < v->kx_end - v->kx_begin; ++n) {
      acc += x[n * v->x_col] * *wt;
      wt += v->out_c;
    }
    x += v->x_row;
    w += v->w_row;
  }
  out[oc] = depthwise_f32_result(p, oc, acc);
}

MEMOPT_FAST
static void depthwise_f32_pixel(const memopt_depthwise_conv_2d_f32_params *p,
                                const depthwise_f32_window *v, float *out) {
  int32_t ic;
  int32_t oc = 0;
  if (p->depth_multiplier == 1) {
#if DEPTHWISE_F32_ASM
    const float *const w = p->weights + v->ky_begin * v->w_row + v->kx_begin * v->out_c;
    for (; oc + 8 <= v->out_c; oc += 8) {
      float acc[8];
      int32_t k;
      depthwise_f32_eight(v, v->x + oc, w + oc, acc);
      for (k = 0; k < 8; k += 4) {
        out[oc + k] = depthwise_f32_result(p, oc + k, acc[k]);
        out[oc + k + 1] = depthwise_f32_result(p, oc + k + 1, acc[k + 1]);
        out[oc + k + 2] = depthwise_f32_result(p, oc + k + 2, acc[k + 2]);
        out[oc + k + 3] = depthwise_f32_result(p, oc + k + 3, acc[k + 3]);
      }
    }
#endif
    for (; oc + 4 <= v->out_c; oc += 4) {
      depthwise_f32_four(p, v, oc, oc, 1, out);
    }
    for (; oc < v->out_c; ++oc) {
      depthwise_f32_one(p, v, oc, oc, out);
    }
    return;
  }
  for (ic = 0; ic < p->in_c; ++ic) {
    const int32_t end = oc + p->depth_multiplier;
    for (; oc + 4 <= end; oc += 4) {
      depthwise_f32_four(p, v, oc, ic, 0, out);
    }
    for (; oc < end; ++oc) {
      depthwise_f32_one(p, v, oc, ic, out);
    }
  }
}

/* A pixel all of whose taps are padding. */
MEMOPT_FAST
static MEMOPT_NOINLINE void depthwise_f32_padding(const memopt_depthwise_conv_2d_f32_params *p,
                                                  int32_t out_c, float *out) {
  int32_t oc;
  for (oc = 0; oc < out_c; ++oc) {
    out[oc] = memopt_clamp_f32(0.0f + p->bias[oc], p->act_min, p->act_max);
  }
}

MEMOPT_FAST
KERNEL {
  depthwise_f32_window v;
  int32_t oy;
  v.next_step = p->dilation_h;
  v.x_row = p->dilation_h * rows->in_stride / (int32_t)sizeof(float);
  v.out_c = p->in_c * p->depth_multiplier;
  v.w_row = p->k_w * v.out_c;
  v.x_col = p->dilation_w * p->in_c;
  (void)scratch;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    float *restrict output = (float *)memopt_out_row(rows, out, oy);
    int32_t ox;
    memopt_valid_taps(iy, p->in_h, p->k_h, p->dilation_h, &v.ky_begin, &v.ky_end);
    v.row = 0;
    v.next = 0;
    if (v.ky_begin < v.ky_end) {
      const int32_t y = iy + v.ky_begin * p->dilation_h;
      v.row = (const float *)memopt_in_row(rows, in, 0, y);
      v.next = rows->in_count > 1 ? in + (y - rows->in_first) : 0;
    }
    for (ox = 0; ox < p->out_w; ++ox) {
      const int32_t ix = ox * p->stride_w - p->pad_left;
      memopt_valid_taps(ix, p->in_w, p->k_w, p->dilation_w, &v.kx_begin, &v.kx_end);
      v.rows = v.kx_begin < v.kx_end ? v.ky_end - v.ky_begin : 0;
      if (v.rows == 0) {
        depthwise_f32_padding(p, v.out_c, output);
      } else {
        v.x = v.row + (ix + v.kx_begin * p->dilation_w) * p->in_c;
        depthwise_f32_pixel(p, &v, output);
      }
      output += v.out_c;
    }
  }
}
