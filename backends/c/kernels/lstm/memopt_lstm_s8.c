/* UNIDIRECTIONAL_SEQUENCE_LSTM, int8. */
#include "memopt_dot_s8.h"
#include "memopt_lstm.h"

typedef struct {
  memopt_lstm_sizes sizes;
  memopt_lstm_number by_input[MEMOPT_LSTM_GATES], by_hidden[MEMOPT_LSTM_GATES];
  const int8_t *from_input;   /* [gate][units][in_n] */
  const int8_t *from_hidden;  /* [gate][units][units] */
  const int32_t *input_bias;  /* [units][gate], zero points included */
  const int32_t *hidden_bias; /* [units][gate] */
} memopt_lstm_s8_params;

/* Adds to sums the products of n elements with the weights of a unit, each brought to 16 bits. */
static inline void lstm_sums_s8(const int8_t *x, const int8_t *weights, int32_t n, int32_t units,
                                const int32_t *bias, const memopt_lstm_number *by, int32_t *sums) {
  memopt_dot_shape shape = {0};
  int32_t acc[MEMOPT_LSTM_GATES + 1];
  int32_t g;
  shape.run = n;
  shape.w_next = units * n;
  memcpy(acc, bias, MEMOPT_LSTM_GATES * sizeof *acc);
  acc[MEMOPT_LSTM_GATES] = 0;
  memopt_dot_1xn(x, weights, &shape, MEMOPT_LSTM_GATES, acc);
  for (g = 0; g < MEMOPT_LSTM_GATES; ++g) {
    sums[g] += memopt_lstm_int16(memopt_requantize(acc[g], by[g].multiplier, by[g].shift));
  }
}

static inline void lstm_gates_s8(const memopt_lstm_s8_params *p, int32_t unit, const int8_t *x,
                                 const int8_t *hidden, int32_t *sums) {
  const int32_t n = p->sizes.in_n;
  const int32_t units = p->sizes.units;
  const int32_t at = unit * MEMOPT_LSTM_GATES;
  int32_t g;
  memset(sums, 0, MEMOPT_LSTM_GATES * sizeof *sums);
  lstm_sums_s8(x, p->from_input + unit * n, n, units, p->input_bias + at, p->by_input, sums);
  lstm_sums_s8(hidden, p->from_hidden + unit * units, units, units, p->hidden_bias + at,
               p->by_hidden, sums);
  for (g = 0; g < MEMOPT_LSTM_GATES; ++g) {
    sums[g] = memopt_lstm_int16(sums[g]);
  }
}

MEMOPT_FAST
KERNEL(rows, scratch) {
  MEMOPT_LSTM(int8_t, -128, 127, lstm_gates_s8, p);
}
