/* RESIZE_BILINEAR, int8, NHWC, one quantization (TensorFlow Lite, reference/resize_bilinear.h:
 * ResizeBilinearInteger). The emitter proves that no sum leaves an int32. */
#include "memopt_resize_bilinear.h"

typedef struct {
  int32_t out_w, channels;
  /* Of each row and column of the result the two that it lies between. */
  const int16_t *row_low, *row_high, *column_low, *column_high;
  const int16_t *row_part, *column_part; /* of the higher one, in 1024ths */
  int32_t by_rows; /* 1 if row r has two operands, of a row each */
} memopt_resize_bilinear_s8_params;

KERNEL {
  MEMOPT_RESIZE_BILINEAR(int8_t, int32_t, 1024, p,
                         (int8_t)memopt_round_shift_30(
                             tl * (above * left) + bl * (below * left) + tr * (above * right) +
                                 br * (below * right),
                             20));
}
