/* RESIZE_BILINEAR, uint8, NHWC: products and sums as floats, in the order of TensorFlow Lite's
 * reference/resize_bilinear.h. */
#include "memopt_resize_bilinear.h"

typedef struct {
  int32_t out_w, channels;
  /* Of each row and column of the result the two that it lies between. */
  const int16_t *row_low, *row_high, *column_low, *column_high;
  const float *row_part, *column_part; /* of the higher one */
  int32_t by_rows; /* 1 if row r has two operands, of a row each */
} memopt_resize_bilinear_u8_params;

KERNEL {
  MEMOPT_RESIZE_BILINEAR(uint8_t, float, 1.0f, p,
                         (uint8_t)((float)tl * above * left + (float)bl * below * left +
                                   (float)tr * above * right + (float)br * below * right + 0.5f));
}
