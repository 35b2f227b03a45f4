/* CAST, int32 to int8 or uint8: the lowest byte. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_i32_s8_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t *input = (const int32_t *)memopt_in_row(rows, in, 0, row);
    uint8_t *output = (uint8_t *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = (uint8_t)((uint32_t)input[i] & 0xffu);
    }
  }
}
