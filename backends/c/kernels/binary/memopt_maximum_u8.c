/* MAXIMUM, uint8, one quantization. Rows and steps as in memopt_add_s8.c. */
#include "memopt_binary.h"

typedef struct {
  int32_t row_n;
  int32_t a_step, b_step;         /* as in memopt_add_s8.c */
  int32_t a_row_step, b_row_step; /* as in memopt_add_s8.c */
} memopt_maximum_u8_params;

/* `output` may be `a` or `b`. */
MEMOPT_KERNEL void memopt_maximum_u8(const void *params, const memopt_rows *rows,
                                     const void *const *in, void *out, void *scratch) {
  const memopt_maximum_u8_params *p = (const memopt_maximum_u8_params *)params;
  (void)scratch;
  MEMOPT_BINARY(uint8_t, p, x > y ? x : y);
}
