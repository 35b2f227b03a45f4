/* CAST, int32 to float32. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_i32_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_cast_i32_f32(const void *params, const memopt_rows *rows,
                                       const void *const *in, void *out, void *scratch) {
  const memopt_cast_i32_f32_params *p = (const memopt_cast_i32_f32_params *)params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t *input = (const int32_t *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = (float)input[i];
    }
  }
}
