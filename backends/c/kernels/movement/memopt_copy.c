#include "memopt_copy.h"

#include <string.h>

MEMOPT_KERNEL void memopt_copy(const memopt_copy_params *p, const memopt_rows *rows,
                               const uint8_t *input, uint8_t *output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    memmove(output, input, (size_t)p->row_n);
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
