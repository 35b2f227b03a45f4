/* KIND    WEIGHTS
 * f32     float32
 * hybrid  8 bits
 */
/* A recurrent layer of one gate, as RNN of ONNX, float32, with weights of WEIGHTS. */
#include "memopt_recurrent_KIND.h"

typedef struct {
  memopt_recurrent_sizes_KIND sizes;
  int32_t states; /* vectors that a step reads */
  int32_t tanh;   /* else relu */
  int32_t in_rows;
} memopt_rnn_layer_KIND_params;

static void memopt_rnn_step_KIND(const memopt_rnn_layer_KIND_params *p, const float *x,
                                   const float *held, float *made) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  const memopt_recurrent_sum gate = {0, 0, x, held};
  float acc[MEMOPT_UNITS];
  memopt_recurrent_plan_KIND plan;
  int32_t unit, k;
  memopt_recurrent_begin_KIND(&plan, z, &gate, 1, acc);
  for (unit = 0; unit < z->units; unit += MEMOPT_UNITS) {
    const int32_t last = z->units - 1 - unit;
    memopt_recurrent_block_KIND(&plan, last);
    if (p->tanh) {
      memopt_recurrent_tanh(acc, z->clip);
    }
    for (k = 0; k < MEMOPT_UNITS && k <= last; ++k) {
      const float sum = p->tanh ? acc[k] : memopt_recurrent_clip(acc[k], z->clip);
      made[unit + k] = p->tanh || sum > 0.0f ? sum : 0.0f;
    }
  }
}

MEMOPT_FAST
KERNEL(scratch) {
  const memopt_recurrent_sizes_KIND *const z = &p->sizes;
  MEMOPT_RECURRENT(memopt_rnn_step_KIND, p, z, p->in_rows);
}
