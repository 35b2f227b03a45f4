/* TRANSPOSE_CONV of float32 with int8 weights, NHWC, weights OHWI. The image is quantized first, into
 * scratch. */
#include "memopt_hybrid.h"
#include "memopt_taps.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_c, group_out; /* channels of a group */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  float act_min, act_max;
  int32_t scale_step;    /* 0 where one scale serves all filters */
  const int8_t *weights; /* [out_c][k_h][k_w][k_c] */
  const float *scale;
  const float *bias;     /* [out_c] */
} memopt_hybrid_transpose_conv_2d_f32_params;

static inline float hybrid_transposed(const memopt_hybrid_transpose_conv_2d_f32_params *p,
                                      const memopt_steps *steps, int32_t sum, int32_t oc) {
  const float value = (float)sum * p->scale[oc * p->scale_step] * steps->scale;
  return memopt_clamp_f32(value + p->bias[oc], p->act_min, p->act_max);
}

MEMOPT_FAST
KERNEL {
  const int32_t row_n = p->in_w * p->in_c;
  const memopt_steps steps = memopt_steps_of(rows, in, p->in_h, row_n, 0, scratch);
  const memopt_rows quantized = {rows->out_begin, rows->out_end, rows->out_stride, 0, 1, row_n};
  const void *image[1];
  image[0] = scratch;
  rows = &quantized;
  in = image;
  MEMOPT_TRANSPOSED(int8_t, int8_t, int32_t, float, p, p->weights, 0,
                    sum += (x - steps.zero_point) * w, hybrid_transposed(p, &steps, sum, oc));
}
