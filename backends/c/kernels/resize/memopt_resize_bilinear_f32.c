/* RESIZE_BILINEAR, float32, NHWC: products and sums in the order of TensorFlow Lite's
 * reference/resize_bilinear.h. */
#include "memopt_resize_bilinear.h"

typedef struct {
  int32_t out_w, channels;
  /* Of each row and column of the result the two that it lies between. */
  const int16_t *row_low, *row_high, *column_low, *column_high;
  const float *row_part, *column_part; /* of the higher one */
  int32_t by_rows; /* 1 if row r has two operands, of a row each */
} memopt_resize_bilinear_f32_params;

KERNEL {
  MEMOPT_RESIZE_BILINEAR(float, float, 1.0f, p,
                         tl * above * left + bl * below * left + tr * above * right +
                         br * below * right);
}
