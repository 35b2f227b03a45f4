/* SIGN, float32: 1 above zero, -1 below, else 0; what is no number stays none. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
} memopt_sign_f32_params;

MEMOPT_KERNEL void memopt_sign_f32(const void *params, const memopt_rows *rows,
                                   const void *const *in, void *out, void *scratch) {
  const memopt_sign_f32_params *p = (const memopt_sign_f32_params *)params;
  MEMOPT_EACH(float, p, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x - x);
}
