/* EQUAL, LESS and the other comparisons, int8 that stand for themselves. */
#include "memopt_compare.h"

typedef struct {
  int32_t row_n;
  int32_t relation; /* see memopt_compare.h */
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_compare_plain_s8_params;

MEMOPT_KERNEL void memopt_compare_plain_s8(const void *params, const memopt_rows *rows,
                                      const void *const *in, void *out, void *scratch) {
  const memopt_compare_plain_s8_params *p = (const memopt_compare_plain_s8_params *)params;
  (void)scratch;
  MEMOPT_BINARY_TO(int8_t, uint8_t, p, MEMOPT_COMPARED(p, x, y));
}
