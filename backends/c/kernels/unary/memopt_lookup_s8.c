#include "memopt_lookup_s8.h"

MEMOPT_KERNEL void memopt_lookup_s8(const memopt_lookup_s8_params *p, const memopt_rows *rows,
                                    const int8_t *input, int8_t *output) {
  int32_t row;
  input += (rows->out_begin - rows->in_first) * rows->in_stride;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = p->table[input[i] + 128];
    }
    input += rows->in_stride;
    output += rows->out_stride;
  }
}
