/* Bytes from one place to another: RESHAPE where it is no view. A row is `row_n` bytes. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t row_n;
} memopt_copy_params;

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *input = (const uint8_t *)memopt_in_row(rows, in, 0, row);
    uint8_t *output = (uint8_t *)memopt_out_row(rows, out, row);
    memmove(output, input, (size_t)p->row_n);
  }
}
