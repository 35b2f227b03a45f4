/* UNIDIRECTIONAL_SEQUENCE_LSTM of stored integers with a cell of int16 (TensorFlow Lite Micro,
 * lstm_eval.h), for each type of the sequence. */
#ifndef MEMOPT_LSTM_H
#define MEMOPT_LSTM_H

#include "memopt_sigmoid_s16.h"

#include <string.h>

enum {
  MEMOPT_LSTM_INPUT,
  MEMOPT_LSTM_FORGET,
  MEMOPT_LSTM_CELL,
  MEMOPT_LSTM_OUTPUT,
  MEMOPT_LSTM_GATES
};

/* A multiplier and its shift, see memopt_requantize. */
typedef struct {
  int32_t multiplier, shift;
} memopt_lstm_number;

typedef struct {
  int32_t batches, steps, in_n, units;
  int32_t batch_step, time_step; /* vectors from one to the next */
  memopt_lstm_number forget, input, output; /* of the products that the gates are in */
  int32_t cell_multiplier, cell_shift; /* see memopt_in_units_s16 */
  int32_t clip; /* 0: none */
  int32_t output_zero_point;
  const uint16_t *table; /* see memopt_sigmoid_s16.h */
} memopt_lstm_sizes;

static inline int32_t memopt_lstm_int16(int32_t value) {
  return memopt_clamp(value, -32768, 32767);
}

static inline int32_t memopt_lstm_product(int32_t a, int32_t b, const memopt_lstm_number *by) {
  return memopt_requantize(a * b, by->multiplier, by->shift);
}

/* What is shown of a cell, not clamped yet: `sums` are what the functions of its gates take. */
static inline int32_t memopt_lstm_cell(const memopt_lstm_sizes *z, const int32_t *sums,
                                       int16_t *cell) {
  const int32_t input = memopt_logistic_of_s16(z->table, 3 * sums[MEMOPT_LSTM_INPUT]);
  const int32_t forget = memopt_logistic_of_s16(z->table, 3 * sums[MEMOPT_LSTM_FORGET]);
  const int32_t added = memopt_tanh_of_s16(z->table, 3 * sums[MEMOPT_LSTM_CELL]);
  const int32_t shown = memopt_logistic_of_s16(z->table, 3 * sums[MEMOPT_LSTM_OUTPUT]);
  int32_t kept = memopt_lstm_int16(memopt_lstm_product(forget, *cell, &z->forget)) +
                 memopt_lstm_int16(memopt_lstm_product(input, added, &z->input));
  kept = memopt_lstm_int16(kept);
  kept = z->clip > 0 ? memopt_clamp(kept, -z->clip, z->clip) : kept;
  *cell = (int16_t)kept;
  kept = memopt_in_units_s16(kept, z->cell_multiplier, z->cell_shift);
  return memopt_lstm_product(memopt_tanh_of_s16(z->table, kept), shown, &z->output) +
         z->output_zero_point;
}

/* The walk over steps: operands are the sequence, what is hidden, and the cell. `gates` makes what
 * the functions of a unit's gates take of p, the kernel's parameters, the unit, a vector of the
 * sequence and what is hidden of the step before. Results of `type` are low .. high. */
#define MEMOPT_LSTM(type, low, high, gates, p)                                       \
  do {                                                                               \
    const memopt_lstm_sizes *const z = &(p)->sizes;                                  \
    int32_t batch, step, unit;                                                       \
    for (batch = 0; batch < z->batches; ++batch) {                                   \
      type *hidden = (type *)memopt_state(in[1]) + batch * z->units;                 \
      int16_t *cell = (int16_t *)memopt_state(in[2]) + batch * z->units;             \
      for (step = 0; step < z->steps; ++step) {                                      \
        const int32_t at = batch * z->batch_step + step * z->time_step;              \
        const type *x = (const type *)in[0] + at * z->in_n;                          \
        type *output = (type *)out + at * z->units;                                  \
        for (unit = 0; unit < z->units; ++unit) {                                    \
          int32_t sums[MEMOPT_LSTM_GATES];                                           \
          gates(p, unit, x, hidden, sums);                                           \
          output[unit] =                                                             \
              (type)memopt_clamp(memopt_lstm_cell(z, sums, cell + unit), low, high); \
        }                                                                            \
        memcpy(hidden, output, (size_t)z->units * sizeof *hidden);                   \
      }                                                                              \
    }                                                                                \
  } while (0)

#endif
