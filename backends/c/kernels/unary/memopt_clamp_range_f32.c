/* RELU, RELU6 and other ranges, float32. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
} memopt_clamp_range_f32_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_clamp_range_f32(const void *params, const memopt_rows *rows,
                                          const void *const *in, void *out, void *scratch) {
  const memopt_clamp_range_f32_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = memopt_in_row(rows, in, 0, row);
    float *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = memopt_clamp_f32(input[i], p->act_min, p->act_max);
    }
  }
}
