#include "memopt_transpose_s8.h"

MEMOPT_KERNEL void memopt_transpose_s8(const memopt_transpose_s8_params *p,
                                       const memopt_rows *rows, const int8_t *input,
                                       int8_t *restrict output) {
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t outer = row / p->size[0];
    const int32_t start = outer * p->stride[0] + (row - outer * p->size[0]) * p->stride[1];
    int32_t i;
    int32_t j;
    for (i = 0; i < p->size[1]; ++i) {
      for (j = 0; j < p->size[2]; ++j) {
        output[i * p->size[2] + j] = input[start + i * p->stride[2] + j * p->stride[3]];
      }
    }
    output += rows->out_stride;
  }
}
