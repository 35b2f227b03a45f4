/* DEPTHWISE_CONV_2D over its operand, int8, NHWC, weights [1][k_h][k_w][in_c], a filter to a
 * channel. `bias` is folded with the input's zero point as in memopt_conv_2d_s8.c.
 */
#include "memopt_depthwise_in_place.h"
#include "memopt_finish_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w;
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t span; /* from the first row under a window to the last */
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  const int8_t *weights;     /* [k_h][k_w][in_c] */
  const int32_t *bias;       /* [in_c] */
  const int32_t *multiplier; /* [in_c] */
  const int8_t *shift;       /* [in_c], as memopt_requantize takes it */
} memopt_depthwise_in_place_s8_params;

/* zero_point * (the weights of the taps in the padding). */
MEMOPT_FAST
static MEMOPT_NOINLINE int32_t
depthwise_in_place_s8_padding(const memopt_depthwise_in_place_s8_params *p,
                              const memopt_kept_window *v, const int8_t *w) {
  int32_t acc = 0;
  int32_t ky;
  for (ky = 0; ky < p->k_h; ++ky) {
    const int32_t row_inside = ky >= v->ky_begin && ky < v->ky_end;
    int32_t kx;
    for (kx = 0; kx < p->k_w; ++kx) {
      if (!row_inside || kx < v->kx_begin || kx >= v->kx_end) {
        acc += *w;
      }
      w += p->in_c;
    }
  }
  return acc * p->input_zero_point;
}

/* The sum of one window of one channel. */
static inline int32_t depthwise_in_place_s8_sum(const memopt_depthwise_in_place_s8_params *p,
                                                const memopt_kept_window *v, const int8_t *kept,
                                                int32_t c) {
  int32_t acc = p->bias[c];
  if (v->ky_end - v->ky_begin != p->k_h || v->kx_end - v->kx_begin != p->k_w) {
    acc += depthwise_in_place_s8_padding(p, v, p->weights + c);
  }
  MEMOPT_KEPT_SUM(int8_t, p, v, kept, p->weights + c, acc, (int32_t)*x * *w);
  return acc;
}

MEMOPT_FAST
KERNEL {
  memopt_finish finish;
  int32_t acc;
  finish.zero_point = p->output_zero_point;
  finish.act_min = p->act_min;
  finish.act_max = p->act_max;
  finish.step = 1;
  MEMOPT_DEPTHWISE_IN_PLACE(int8_t, p, {
    acc = depthwise_in_place_s8_sum(p, &v, kept, c);
    memopt_finish_s8(&finish, p->multiplier + c, p->shift + c, 1, &acc, output);
  });
}
