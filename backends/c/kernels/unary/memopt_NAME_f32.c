/* NAME  VALUE
 */
/* NAME of float32. */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
} memopt_NAME_f32_params;

KERNEL {
  MEMOPT_EACH(float, p, VALUE);
}
