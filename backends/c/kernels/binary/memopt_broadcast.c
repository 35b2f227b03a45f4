/* A kernel of two operands on tensors of which some dimensions are broadcast: a row at a time. */
#include "memopt_common.h"

typedef struct {
  memopt_kernel *kernel; /* of a row */
  const void *row;       /* its parameters */
  int32_t row_bytes;     /* of the result */
  int32_t size[6];       /* rows along each dimension */
  int32_t step[2][6];    /* bytes to the next along each, of each operand; 0 where one serves all */
} memopt_broadcast_params;

/* `output` may be an operand that is not broadcast. */
MEMOPT_KERNEL void memopt_broadcast(const void *params, const memopt_rows *rows,
                                    const void *const *in, void *out, void *scratch) {
  static const memopt_rows one = {0, 1, 0, 0, 1, 0};
  const memopt_broadcast_params *p = (const memopt_broadcast_params *)params;
  const uint8_t *const a = (const uint8_t *)memopt_in_row(rows, in, 0, rows->in_first);
  const uint8_t *const b = (const uint8_t *)memopt_in_row(rows, in, 1, rows->in_first);
  uint8_t *output = (uint8_t *)out;
  int32_t index[6] = {0, 0, 0, 0, 0, 0};
  int32_t d;
  (void)scratch;
  do {
    const void *at[2];
    int32_t a_at = 0;
    int32_t b_at = 0;
    for (d = 0; d < 6; ++d) {
      a_at += index[d] * p->step[0][d];
      b_at += index[d] * p->step[1][d];
    }
    at[0] = a + a_at;
    at[1] = b + b_at;
    p->kernel(p->row, &one, at, output, 0);
    output += p->row_bytes;
    for (d = 5; d >= 0; --d) {
      if (++index[d] < p->size[d]) {
        break;
      }
      index[d] = 0;
    }
  } while (d >= 0);
}
