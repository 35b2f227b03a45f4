/* SCATTER_ND, float32. Operands are indices, of 32 or 64 bits, and what is added; what has an index
 * that there is not is left out. */
#include "memopt_common.h"

typedef struct {
  int32_t size;  /* elements of the result */
  int32_t count; /* places */
  int32_t depth; /* indices of each */
  int32_t piece; /* elements of each */
  int32_t wide;  /* indices of int64 */
  int32_t limit[8], step[8];
} memopt_scatter_nd_f32_params;

MEMOPT_KERNEL void memopt_scatter_nd_f32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_scatter_nd_f32_params *p = params;
  const float *from = in[1];
  float *const output = out;
  int32_t i, k, n;
  (void)rows;
  (void)scratch;
  for (n = 0; n < p->size; ++n) {
    output[n] = 0;
  }
  for (i = 0; i < p->count; ++i) {
    float *to = output;
    int32_t there = 1;
    for (k = 0; k < p->depth; ++k) {
      const int32_t number = i * p->depth + k;
      const int64_t at =
          p->wide ? ((const int64_t *)in[0])[number] : ((const int32_t *)in[0])[number];
      there = there && at >= 0 && at < p->limit[k];
      to += there ? (int32_t)at * p->step[k] * p->piece : 0;
    }
    for (n = 0; there && n < p->piece; ++n) {
      to[n] += from[n];
    }
    from += p->piece;
  }
}
