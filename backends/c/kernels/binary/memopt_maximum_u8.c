/* MAXIMUM, uint8, one quantization. Rows and steps as in memopt_add_s8.c. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_maximum_u8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_maximum_u8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_maximum_u8_params *p = params;
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const uint8_t *a = memopt_in_row(rows, in, 0, p->a_row_step ? row : rows->in_first);
    const uint8_t *b = memopt_in_row(rows, in, 1, p->b_row_step ? row : rows->in_first);
    uint8_t *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = *a > *b ? *a : *b;
      a += p->a_step;
      b += p->b_step;
    }
  }
}
