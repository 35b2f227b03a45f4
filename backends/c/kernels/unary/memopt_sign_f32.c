/* SIGN, float32: 1 above zero, -1 below, else 0; what is no number stays none. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_sign_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_sign_f32(const void *params, const memopt_rows *rows,
                                   const void *const *in, void *out, void *scratch) {
  const memopt_sign_f32_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = memopt_in_row(rows, in, 0, row);
    float *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = input[i] > 0.0f ? 1.0f : input[i] < 0.0f ? -1.0f : input[i] - input[i];
    }
  }
}
