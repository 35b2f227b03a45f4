/* ARG_MAX and ARG_MIN, int32: the first of equal numbers. */
#include "memopt_reduce.h"

typedef struct {
  int32_t count, inner;
  int32_t least; /* the smallest number, not the largest */
  int32_t wide;  /* indices of int64 */
} memopt_arg_i32_params;

MEMOPT_KERNEL void memopt_arg_i32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_arg_i32_params *p = (const memopt_arg_i32_params *)params;
  (void)scratch;
  MEMOPT_ARG(int32_t, p);
}
