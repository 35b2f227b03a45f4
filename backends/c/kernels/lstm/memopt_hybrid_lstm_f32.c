/* UNIDIRECTIONAL_SEQUENCE_LSTM, float32 with int8 weights, with any of its parts. */
#include "memopt_real_lstm.h"

typedef struct {
  memopt_real_lstm_params layer;
} memopt_hybrid_lstm_f32_params;

MEMOPT_FAST
MEMOPT_KERNEL void memopt_hybrid_lstm_f32(const void *params, const memopt_rows *rows,
                                      const void *const *in, void *out, void *scratch) {
  const memopt_hybrid_lstm_f32_params *p = (const memopt_hybrid_lstm_f32_params *)params;
  (void)rows;
  memopt_lstm_walk(&p->layer, in, (float *)out, 1, (float *)scratch);
}
