/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 * s16   int16_t
 */
/* DEQUANTIZE, KIND to float32. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float scale;
  int32_t zero_point;
} memopt_dequantize_KIND_f32_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = p->scale * (float)(input[i] - p->zero_point);
    }
  }
}
