/* UNIDIRECTIONAL_SEQUENCE_LSTM, int16 with int8 weights. */
#include "memopt_lstm.h"
#include "memopt_wide_sum_s16.h"

typedef struct {
  memopt_lstm_sizes sizes;
  memopt_lstm_number by_input[MEMOPT_LSTM_GATES]; /* as memopt_wide_steps takes them */
  memopt_lstm_number by_hidden[MEMOPT_LSTM_GATES];
  const int8_t *from_input;  /* [gate][units][in_n] */
  const int8_t *from_hidden; /* [gate][units][units] */
  const int64_t *input_bias; /* [gate][units] */
} memopt_lstm_s16_params;

static inline int32_t lstm_sum_s16(const int16_t *x, const int8_t *w, int32_t n, int64_t sum,
                                   const memopt_lstm_number *by) {
  int32_t i;
  for (i = 0; i < n; ++i) {
    sum += x[i] * w[i];
  }
  return memopt_wide_steps(sum, by->multiplier, by->shift);
}

static inline void lstm_gates_s16(const memopt_lstm_s16_params *p, int32_t unit, const int16_t *x,
                                  const int16_t *hidden, int32_t *sums) {
  const int32_t n = p->sizes.in_n;
  const int32_t units = p->sizes.units;
  int32_t g;
  for (g = 0; g < MEMOPT_LSTM_GATES; ++g) {
    const int32_t row = g * units + unit;
    const int32_t first =
        lstm_sum_s16(x, p->from_input + row * n, n, p->input_bias[row], &p->by_input[g]);
    const int32_t second =
        lstm_sum_s16(hidden, p->from_hidden + row * units, units, 0, &p->by_hidden[g]);
    sums[g] = memopt_lstm_int16(first + second);
  }
}

MEMOPT_FAST
KERNEL(rows, scratch) {
  MEMOPT_LSTM(int16_t, -32768, 32767, lstm_gates_s16, p);
}
