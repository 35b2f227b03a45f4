/* NAME                KIND  TYPE     VALUE
 * maximum             f32   float    x > y ? x : y
 * maximum             i32   int32_t  x > y ? x : y
 * maximum             i64   int64_t  x > y ? x : y
 * maximum             s8    int8_t   x > y ? x : y
 * maximum             s16   int16_t  x > y ? x : y
 * maximum             u8    uint8_t  x > y ? x : y
 * minimum             f32   float    x < y ? x : y
 * minimum             i32   int32_t  x < y ? x : y
 * minimum             i64   int64_t  x < y ? x : y
 * minimum             s8    int8_t   x < y ? x : y
 * minimum             s16   int16_t  x < y ? x : y
 * minimum             u8    uint8_t  x < y ? x : y
 * add                 i64   int64_t  (uint64_t)x + (uint64_t)y
 * sub                 i64   int64_t  (uint64_t)x - (uint64_t)y
 * mul                 i64   int64_t  (uint64_t)x * (uint64_t)y
 * prelu               f32   float    x >= 0.0f ? x : x * y
 * squared_difference  f32   float    (x - y) * (x - y)
 * squared_difference  i32   int32_t  ((uint32_t)x - (uint32_t)y) * ((uint32_t)x - (uint32_t)y)
 * remainder           i32   int32_t  y == 0 || y == -1 ? 0 : x % y
 * remainder           i64   int64_t  y == 0 || y == -1 ? 0 : x % y
 * atan2               f32   float    atan2f(x, y)
 * floor_div           f32   float    floorf(x / y)
 * pow                 f32   float    powf(x, y)
 * remainder           f32   float    fmodf(x, y)
 */
/* NAME of KIND; integers wrap, and by 0 they are 0. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"

#include <math.h>

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* see memopt_binary.h */
  int32_t a_row_step, b_row_step; /* see memopt_binary.h */
} memopt_NAME_KIND_params;

/* `output` may be `a` or `b`. */
KERNEL(scratch) {
  MEMOPT_BINARY(TYPE, p, VALUE);
}
