/* RESIZE_BILINEAR, int16, NHWC, one quantization (TensorFlow Lite, reference/resize_bilinear.h:
 * ResizeBilinearInteger). */
#include "memopt_common.h"

typedef struct {
  int32_t out_w, channels;
  /* Of each row and column of the result the two that it lies between. */
  const int16_t *row_low, *row_high, *column_low, *column_high;
  const int16_t *row_part, *column_part; /* of the higher one, in 1024ths */
  int32_t by_rows; /* 1 if row r has two operands, of a row each */
} memopt_resize_bilinear_s16_params;

MEMOPT_KERNEL void memopt_resize_bilinear_s16(const void *params, const memopt_rows *rows,
                                             const void *const *in, void *out, void *scratch) {
  const memopt_resize_bilinear_s16_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int16_t *top = memopt_in_row(rows, in, 0, p->by_rows ? row : p->row_low[row]);
    const int16_t *bottom = p->by_rows ? memopt_in_row(rows, in, 1, row)
                                     : memopt_in_row(rows, in, 0, p->row_high[row]);
    int16_t *output = memopt_out_row(rows, out, row);
    const int32_t below = p->row_part[row];
    const int32_t above = 1024 - below;
    int32_t x;
    for (x = 0; x < p->out_w; ++x) {
      const int32_t l = p->column_low[x] * p->channels;
      const int32_t r = p->column_high[x] * p->channels;
      const int32_t right = p->column_part[x];
      const int32_t left = 1024 - right;
      const int32_t w_tl = above * left;
      const int32_t w_tr = above * right;
      const int32_t w_bl = below * left;
      const int32_t w_br = below * right;
      int32_t c;
      for (c = 0; c < p->channels; ++c) {
        const int64_t sum = (int64_t)top[l + c] * w_tl + (int64_t)bottom[l + c] * w_bl +
                            (int64_t)top[r + c] * w_tr + (int64_t)bottom[r + c] * w_br;
        *output++ = (int16_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
      }
    }
  }
}
