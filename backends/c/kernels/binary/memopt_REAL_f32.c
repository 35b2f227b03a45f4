/* REAL       VALUE
 * atan2      atan2f(x, y)
 * floor_div  floorf(x / y)
 * pow        powf(x, y)
 * remainder  fmodf(x, y)
 */
/* REAL of float32. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

#include <math.h>

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_REAL_f32_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_REAL_f32(const void *params, const memopt_rows *rows,
                                   const void *const *in, void *out, void *scratch) {
  const memopt_REAL_f32_params *p = (const memopt_REAL_f32_params *)params;
  (void)scratch;
  MEMOPT_BINARY(float, p, VALUE);
}
