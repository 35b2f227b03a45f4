/* NAME  KIND  TYPE     FIRST  NEXT
 * sum   f32   float    0.0f   so_far += x
 * sum   i32   int32_t  0      so_far = (int32_t)((uint32_t)so_far + (uint32_t)x)
 * prod  f32   float    1.0f   so_far *= x
 * prod  i32   int32_t  1      so_far = (int32_t)((uint32_t)so_far * (uint32_t)x)
 */
/* The NAME of KIND along an axis; integers wrap. */
#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
  int32_t parts; /* see memopt_part */
} memopt_reduce_NAME_KIND_params;

KERNEL(scratch) {
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const TYPE *const before = (const TYPE *)part.before;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *const input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    TYPE *const output = (TYPE *)(part.last ? memopt_out_row(rows, out, row) : out);
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      const TYPE *at = input + i;
      TYPE so_far = before ? before[i] : FIRST;
      int32_t n;
      for (n = p->count / part.calls; n > 0; --n) {
        const TYPE x = *at;
        NEXT;
        at += p->inner;
      }
      output[i] = so_far;
    }
  }
}
