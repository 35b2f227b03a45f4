/* KIND  TYPE
 * s8    int8_t
 * s16   int16_t
 * f32   float
 */
/* TRANSPOSE of up to four dimensions, elements as large as KIND. */
#include "memopt_transpose.h"

typedef struct {
  int32_t size[3];   /* of dimensions 1 to 3 of the output */
  int32_t stride[4]; /* input elements for one step in each dimension of the output; 0
                        in the first two if they stay in place */
} memopt_transpose_KIND_params;

KERNEL(scratch) {
  MEMOPT_TRANSPOSE(TYPE, p);
}
