/* GELU, float32: x times the normal distribution up to x, exactly or by a tanh. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t row_n;
  int32_t approximate;
} memopt_gelu_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_gelu_f32(const void *params, const memopt_rows *rows,
                                   const void *const *in, void *out, void *scratch) {
  const memopt_gelu_f32_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = memopt_in_row(rows, in, 0, row);
    float *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const float x = input[i];
      const float half = 0.5f * x;
      if (p->approximate) {
        output[i] = half * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
      } else {
        output[i] = half * erfcf(x * -0.707106781f);
      }
    }
  }
}
