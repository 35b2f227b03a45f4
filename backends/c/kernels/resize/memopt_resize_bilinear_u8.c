/* RESIZE_BILINEAR, float32, NHWC: products and sums in the order of TensorFlow Lite's
 * reference/resize_bilinear.h. */
#include "memopt_common.h"

typedef struct {
  int32_t out_w, channels;
  /* Of each row and column of the result the two that it lies between. */
  const int16_t *row_low, *row_high, *column_low, *column_high;
  const float *row_part, *column_part; /* of the higher one */
  int32_t by_rows; /* 1 if row r has two operands, of a row each */
} memopt_resize_bilinear_u8_params;

MEMOPT_KERNEL void memopt_resize_bilinear_u8(const void *params, const memopt_rows *rows,
                                              const void *const *in, void *out, void *scratch) {
  const memopt_resize_bilinear_u8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *top = memopt_in_row(rows, in, 0, p->by_rows ? row : p->row_low[row]);
    const uint8_t *bottom = p->by_rows ? memopt_in_row(rows, in, 1, row)
                                 : memopt_in_row(rows, in, 0, p->row_high[row]);
    uint8_t *output = memopt_out_row(rows, out, row);
    const float below = p->row_part[row];
    const float above = 1.0f - below;
    int32_t x;
    for (x = 0; x < p->out_w; ++x) {
      const int32_t l = p->column_low[x] * p->channels;
      const int32_t r = p->column_high[x] * p->channels;
      const float right = p->column_part[x];
      const float left = 1.0f - right;
      int32_t c;
      for (c = 0; c < p->channels; ++c) {
        const float sum = (float)top[l + c] * above * left + (float)bottom[l + c] * below * left +
                          (float)top[r + c] * above * right + (float)bottom[r + c] * below * right;
        *output++ = (uint8_t)(sum + 0.5f);
      }
    }
  }
}
