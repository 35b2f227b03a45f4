/* KIND  TYPE     JOINED
 * s16   int16_t  (a + b > 32767 ? 32767 : a + b < -32768 ? -32768 : a + b)
 * f32   float    a + b
 */
/* SignalOverlapAdd of TYPE: operands are frames, and for each vector of them the sums to come. */
#include "memopt_common.h"

#include <string.h>

typedef struct {
  int32_t vectors, frames;
  int32_t size, step;
} memopt_signal_overlap_add_KIND_params;

MEMOPT_FAST
KERNEL(rows, scratch) {
  const TYPE *x = (const TYPE *)in[0];
  TYPE *sums = (TYPE *)memopt_state(in[1]);
  TYPE *output = (TYPE *)out;
  const int32_t behind = p->size - p->step;
  int32_t vector, frame, i;
  for (vector = 0; vector < p->vectors; ++vector, sums += p->size) {
    for (frame = 0; frame < p->frames; ++frame, x += p->size, output += p->step) {
      for (i = 0; i < p->size; ++i) {
        const TYPE a = sums[i], b = x[i];
        sums[i] = (TYPE)(JOINED);
      }
      memcpy(output, sums, (size_t)p->step * sizeof *sums);
      memmove(sums, sums + p->step, (size_t)behind * sizeof *sums);
      for (i = behind; i < p->size; ++i) {
        sums[i] = 0;
      }
    }
  }
}
