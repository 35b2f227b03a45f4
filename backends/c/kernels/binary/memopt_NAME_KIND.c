/* NAME  KIND  TYPE  VALUE
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
