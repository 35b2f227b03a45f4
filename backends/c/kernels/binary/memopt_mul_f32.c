/* MUL, float32. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  float act_min, act_max;
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_mul_f32_params;

MEMOPT_KERNEL void memopt_mul_f32(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_mul_f32_params *p = (const memopt_mul_f32_params *)params;
  (void)scratch;
  MEMOPT_BINARY(float, p, memopt_clamp_f32(x * y, p->act_min, p->act_max));
}
