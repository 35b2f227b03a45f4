/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 * i32   int32_t
 */
/* CAST, KIND to float32. `output` may be `input` where they are as large. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_KIND_f32_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = (float)input[i];
    }
  }
}
