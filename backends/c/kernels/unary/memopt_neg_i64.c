/* NEG, int64, which wraps. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_neg_i64_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_neg_i64(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_neg_i64_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int64_t *input = memopt_in_row(rows, in, 0, row);
    int64_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = (int64_t)(0u - (uint64_t)input[i]);
    }
  }
}
