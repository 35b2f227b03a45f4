/* NAME        KIND  TYPE     VALUE
 * neg         i32   int32_t  (int32_t)(0u - (uint32_t)x)
 * abs         i32   int32_t  x < 0 ? (int32_t)(0u - (uint32_t)x) : x
 * neg         i64   int64_t  (int64_t)(0u - (uint64_t)x)
 * abs         i64   int64_t  x < 0 ? (int64_t)(0u - (uint64_t)x) : x
 */
/* NAME of KIND; integers wrap. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
} memopt_NAME_KIND_params;

KERNEL {
  MEMOPT_EACH(TYPE, p, VALUE);
}
