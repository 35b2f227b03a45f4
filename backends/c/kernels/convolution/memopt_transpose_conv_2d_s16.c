/* TRANSPOSE_CONV, int16 with int8 weights, NHWC, weights OHWI. */
#include "memopt_taps.h"
#include "memopt_wide_sum_s16.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_c, group_out; /* channels of a group */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  memopt_wide_sum_s16 sums; /* weights [out_c][k_h][k_w][k_c] */
} memopt_transpose_conv_2d_s16_params;

MEMOPT_FAST
KERNEL(scratch) {
  MEMOPT_TRANSPOSED(int16_t, int8_t, int64_t, int16_t, p, p->sums.weights, p->sums.bias[oc],
                    sum += x * w, memopt_stored_s16(&p->sums, sum, oc));
}
