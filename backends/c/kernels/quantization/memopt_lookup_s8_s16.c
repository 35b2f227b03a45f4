/* Any function of one byte to int16, as a table of 256: QUANTIZE to a finer type. Computed when this
 * code was written, equal to TensorFlow Lite Micro for every value. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  const int16_t *table; /* [256], of the bytes -128 ... 127 */
} memopt_lookup_s8_s16_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = (const int8_t *)memopt_in_row(rows, in, 0, row);
    int16_t *output = (int16_t *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = p->table[input[i] + 128];
    }
  }
}
