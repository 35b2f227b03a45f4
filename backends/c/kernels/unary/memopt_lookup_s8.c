/* Any function of one int8, as a table of 256: LOGISTIC, RELU, QUANTIZE between int8 types.
 * Computed when this code was written, equal to TensorFlow Lite Micro for every value. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  const int8_t *table; /* [256], of -128 ... 127 */
} memopt_lookup_s8_params;

KERNEL {
  const int8_t *const table = p->table + 128;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = (const int8_t *)memopt_in_row(rows, in, 0, row);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    int32_t n = p->row_n;
    for (; n >= 4; n -= 4) {
      output[0] = table[input[0]];
      output[1] = table[input[1]];
      output[2] = table[input[2]];
      output[3] = table[input[3]];
      input += 4;
      output += 4;
    }
    for (; n > 0; --n) {
      *output++ = table[*input++];
    }
  }
}
