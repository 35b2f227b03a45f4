/* Any function of one int8, as a table of 256: LOGISTIC, RELU, QUANTIZE between int8 types.
 * Computed when this code was written, equal to TensorFlow Lite Micro for every value. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
  const int8_t *table; /* [256], of -128 ... 127 */
} memopt_lookup_s8_params;

KERNEL {
  MEMOPT_EACH(int8_t, p, p->table[x + 128]);
}
