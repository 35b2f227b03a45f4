/* NAME
 * logistic
 * tanh
 */
/* NAME of int16, to Q0.15. */
#include "memopt_each.h"
#include "memopt_sigmoid_s16.h"

typedef struct {
  int32_t row_n;
  int32_t multiplier, shift; /* see memopt_in_units_s16 */
  const uint16_t *table;     /* [256], see memopt_sigmoid_s16.h */
} memopt_NAME_s16_params;

/* `output` may be `input`. */
KERNEL {
  MEMOPT_EACH(int16_t, p,
              memopt_NAME_of_s16(p->table, memopt_in_units_s16(x, p->multiplier, p->shift)));
}
