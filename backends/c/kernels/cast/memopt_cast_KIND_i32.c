/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 */
/* CAST, KIND to int32. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_KIND_i32_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    int32_t *output = (int32_t *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = input[i];
    }
  }
}
