/* NAME    STORED
 * real    0
 * hybrid  1
 */
/* UNIDIRECTIONAL_SEQUENCE_LSTM, float32, with any of its parts; hybrid: with int8 weights. */
#include "memopt_real_lstm.h"

typedef struct {
  memopt_real_lstm_params layer;
} memopt_NAME_lstm_f32_params;

MEMOPT_FAST
KERNEL(rows) {
  memopt_lstm_walk(&p->layer, in, (float *)out, STORED, (float *)scratch);
}
