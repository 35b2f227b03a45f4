/* KIND  TYPE     FIELDS                                WEIGHT
 * s8    int8_t   act_min, act_max                      w
 * u8    uint8_t  act_min, act_max, weights_zero_point  (w - p->weights_zero_point)
 */
/* TRANSPOSE_CONV, KIND, NHWC, weights OHWI; those of u8 have a zero point of their own. */
#include "memopt_taps.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, out_c;
  int32_t k_c, group_out; /* channels of a group */
  int32_t k_h, k_w;
  int32_t stride_h, stride_w;
  int32_t dilation_h, dilation_w;
  int32_t pad_top, pad_left;
  int32_t input_zero_point, output_zero_point;
  int32_t FIELDS;
  const TYPE *weights;     /* [out_c][k_h][k_w][k_c] */
  const int32_t *bias;       /* [out_c] */
  const int32_t *multiplier; /* [out_c] */
  const int8_t *shift;       /* [out_c], as memopt_requantize takes it */
} memopt_transpose_conv_2d_KIND_params;

MEMOPT_FAST
KERNEL(scratch) {
  MEMOPT_TRANSPOSED(TYPE, TYPE, int32_t, TYPE, p, p->weights, p->bias[oc],
                    sum += (x - p->input_zero_point) * WEIGHT,
                    (TYPE)memopt_clamp(memopt_requantize(sum, p->multiplier[oc], p->shift[oc]) +
                                             p->output_zero_point,
                                         p->act_min, p->act_max));
}
