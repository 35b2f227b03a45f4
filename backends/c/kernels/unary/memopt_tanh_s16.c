/* TANH of int16, to Q0.15. */
#include "memopt_sigmoid_s16.h"

typedef struct {
  int32_t row_n;
  int32_t multiplier, shift; /* see memopt_in_units_s16 */
  const uint16_t *table;     /* [256], see memopt_sigmoid_s16.h */
} memopt_tanh_s16_params;

/* `output` may be `input`. */
MEMOPT_KERNEL void memopt_tanh_s16(const void *params, const memopt_rows *rows,
                                  const void *const *in, void *out, void *scratch) {
  const memopt_tanh_s16_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int16_t *input = memopt_in_row(rows, in, 0, row);
    int16_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      const int32_t x = memopt_in_units_s16(input[i], p->multiplier, p->shift);
      output[i] = memopt_tanh_of_s16(p->table, x);
    }
  }
}
