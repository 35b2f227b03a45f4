/* KIND    TYPE     LEAST   MOST
 * s8      int8_t   -128    127
 * s8_s16  int16_t  -32768  32767
 */
/* SVDF of int8, which remembers TYPE. */
#include "memopt_svdf.h"

typedef struct {
  memopt_svdf_sizes sizes;
  const TYPE *time; /* [units][rank][memory] */
} memopt_svdf_KIND_params;

/* Operands are the input and what is remembered, [batches][units][rank][memory]. */
MEMOPT_FAST
KERNEL(rows, scratch) {
  MEMOPT_SVDF(TYPE, LEAST, MOST, p);
}
