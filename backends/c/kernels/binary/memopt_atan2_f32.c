/* ATAN2, float32. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"

#include <math.h>

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_atan2_f32_params;

MEMOPT_KERNEL void memopt_atan2_f32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_atan2_f32_params *p = (const memopt_atan2_f32_params *)params;
  (void)scratch;
  MEMOPT_BINARY(float, p, atan2f(x, y));
}
