/* CLAMPED  KIND  TYPE     CLAMP             VALUE
 * add      f32   float    memopt_clamp_f32  x + y
 * add      i32   int32_t  memopt_clamp      (int32_t)((uint32_t)x + (uint32_t)y)
 * sub      f32   float    memopt_clamp_f32  x - y
 * sub      i32   int32_t  memopt_clamp      (int32_t)((uint32_t)x - (uint32_t)y)
 * mul      f32   float    memopt_clamp_f32  x * y
 * mul      i32   int32_t  memopt_clamp      (int32_t)((uint32_t)x * (uint32_t)y)
 * div      f32   float    memopt_clamp_f32  x / y
 */
/* CLAMPED of KIND, integers wrap. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  TYPE act_min, act_max;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_CLAMPED_KIND_params;

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, CLAMP(VALUE, p->act_min, p->act_max));
}
