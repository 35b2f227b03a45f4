/* KIND  TYPE     LEAST           MOST
 * s8    int8_t   -128.0f         127.0f
 * u8    uint8_t  0.0f            255.0f
 * i32   int32_t  -2147483648.0f  2147483520.0f
 */
/* CAST, float32 to KIND: towards zero; the nearest of what the type holds, 0 of a NaN,
 * where C and runtimes leave it open. `output` may be `input`. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_f32_KIND_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    TYPE *output = (TYPE *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const float value = input[i] == input[i] ? input[i] : 0.0f;
      output[i] = (TYPE)memopt_clamp_f32(value, LEAST, MOST);
    }
  }
}
