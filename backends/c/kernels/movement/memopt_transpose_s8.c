/* TRANSPOSE of up to four dimensions, int8. A row is an index of the first two; where
 * these stay in place it is made of the same row of the input. */
#include "memopt_common.h"

typedef struct {
  int32_t size[3];   /* of dimensions 1 to 3 of the output */
  int32_t stride[4]; /* input elements for one step in each dimension of the output; 0
                        in the first two if they stay in place */
} memopt_transpose_s8_params;

MEMOPT_KERNEL void memopt_transpose_s8(const void *params, const memopt_rows *rows,
                                       const void *const *in, void *out, void *scratch) {
  const memopt_transpose_s8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int32_t outer = row / p->size[0];
    const int32_t start = outer * p->stride[0] + (row - outer * p->size[0]) * p->stride[1];
    const int8_t *input = memopt_in_row(rows, in, 0, row);
    int8_t *restrict output = memopt_out_row(rows, out, row);
    int32_t i;
    int32_t j;
    for (i = 0; i < p->size[1]; ++i) {
      for (j = 0; j < p->size[2]; ++j) {
        output[i * p->size[2] + j] = input[start + i * p->stride[2] + j * p->stride[3]];
      }
    }
  }
}
