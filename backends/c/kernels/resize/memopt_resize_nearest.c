/* RESIZE_NEAREST_NEIGHBOR, NHWC, of elements of any type, which are moved as they are. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t out_w;
  int32_t pixel_bytes;
  const int16_t *row_at, *column_at; /* of each of the result, the one that it is taken from */
  int32_t by_rows;                   /* 1 if the operand of row r is the row that it is taken from */
} memopt_resize_nearest_params;

KERNEL {
  const size_t bytes = (size_t)p->pixel_bytes;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *input = (const uint8_t *)memopt_in_row(
        rows, in, 0, p->by_rows ? row : p->row_at[row]);
    uint8_t *output = (uint8_t *)memopt_out_row(rows, out, row);
    int32_t x;
    for (x = 0; x < p->out_w; ++x) {
      memcpy(output, input + p->column_at[x] * p->pixel_bytes, bytes);
      output += bytes;
    }
  }
}
