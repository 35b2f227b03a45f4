/* CAST, float32 to int32: towards zero; the nearest of what the type holds, 0 of a NaN,
 * where C and runtimes leave it open. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_f32_i32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_cast_f32_i32(const void *params, const memopt_rows *rows,
                                       const void *const *in, void *out, void *scratch) {
  const memopt_cast_f32_i32_params *p = (const memopt_cast_f32_i32_params *)params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    int32_t *output = (int32_t *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const float value = input[i] == input[i] ? input[i] : 0.0f;
      output[i] = (int32_t)memopt_clamp_f32(value, -2147483648.0f, 2147483520.0f);
    }
  }
}
