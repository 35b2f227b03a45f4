/* TRANSPOSE of up to four dimensions, float32. */
#include "memopt_transpose.h"

typedef struct {
  int32_t size[3];   /* of dimensions 1 to 3 of the output */
  int32_t stride[4]; /* input elements for one step in each dimension of the output; 0
                        in the first two if they stay in place */
} memopt_transpose_f32_params;

MEMOPT_KERNEL void memopt_transpose_f32(const void *params, const memopt_rows *rows,
                                       const void *const *in, void *out, void *scratch) {
  const memopt_transpose_f32_params *p = (const memopt_transpose_f32_params *)params;
  (void)scratch;
  MEMOPT_TRANSPOSE(float, p);
}
