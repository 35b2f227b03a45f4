/* RESIZE_BILINEAR, int16, NHWC, one quantization (TensorFlow Lite, reference/resize_bilinear.h:
 * ResizeBilinearInteger). */
#include "memopt_resize_bilinear.h"

typedef struct {
  int32_t out_w, channels;
  /* Of each row and column of the result the two that it lies between. */
  const int16_t *row_low, *row_high, *column_low, *column_high;
  const int16_t *row_part, *column_part; /* of the higher one, in 1024ths */
  int32_t by_rows; /* 1 if row r has two operands, of a row each */
} memopt_resize_bilinear_s16_params;

/* round(sum / 2^20), halves away from zero. */
static inline int16_t resize_bilinear_s16(int64_t sum) {
  return (int16_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
}

KERNEL {
  MEMOPT_RESIZE_BILINEAR(int16_t, int32_t, 1024, p,
                         resize_bilinear_s16((int64_t)tl * (above * left) +
                                             (int64_t)bl * (below * left) +
                                             (int64_t)tr * (above * right) +
                                             (int64_t)br * (below * right)));
}
