/* SVDF of int8, which remembers int16. */
#include "memopt_svdf.h"

typedef struct {
  memopt_svdf_sizes sizes;
  const int16_t *time; /* [units][rank][memory] */
} memopt_svdf_s8_s16_params;

/* Operands are the input and what is remembered, [batches][units][rank][memory]. */
MEMOPT_FAST
MEMOPT_KERNEL void memopt_svdf_s8_s16(const void *params, const memopt_rows *rows,
                                      const void *const *in, void *out, void *scratch) {
  const memopt_svdf_s8_s16_params *p = (const memopt_svdf_s8_s16_params *)params;
  (void)rows;
  (void)scratch;
  MEMOPT_SVDF(int16_t, -32768, 32767, p);
}
