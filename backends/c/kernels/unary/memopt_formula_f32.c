/* Formula, float32: several functions of one number, each a step of a few elements at a time. */
#include "memopt_common.h"

#include <math.h>
#include <string.h>

/* Functions that only some formulas have. */
#define MEMOPT_WITH_FORMULA_ERF 1
#define MEMOPT_WITH_FORMULA_EXP 1
#define MEMOPT_WITH_FORMULA_LOG 1
#define MEMOPT_WITH_FORMULA_LOGISTIC 1
#define MEMOPT_WITH_FORMULA_POW 1
#define MEMOPT_WITH_FORMULA_TANH 1

#define FORMULA_BLOCK 16    /* elements of a step */
#define FORMULA_REGISTERS 4 /* blocks that are kept */

typedef struct {
  int32_t row_n;
  int32_t step_n;
  const uint8_t *steps; /* of each its function, where it writes, and two operands: registers, or
                         * FORMULA_REGISTERS and more for a known number */
  const float *numbers;
} memopt_formula_f32_params;

enum {
  FORMULA_ADD,
  FORMULA_SUB,
  FORMULA_MUL,
  FORMULA_DIV,
  FORMULA_MINIMUM,
  FORMULA_MAXIMUM,
  FORMULA_POW,
  FORMULA_ABS,
  FORMULA_ERF,
  FORMULA_EXP,
  FORMULA_LOG,
  FORMULA_LOGISTIC,
  FORMULA_NEG,
  FORMULA_RELU,
  FORMULA_RELU6,
  FORMULA_SQRT,
  FORMULA_SQUARE,
  FORMULA_TANH
};

#define FORMULA_CASE(function, value)         \
  case FORMULA_##function:                    \
    for (i = 0; i < n; ++i) {                 \
      const float x = a[i * a_step];          \
      const float y = b[i * b_step];          \
      (void)y;                                \
      out[i] = (value);                       \
    }                                         \
    break

/* `out` may be `a` or `b`. */
static void formula_step(int32_t function, int32_t n, const float *a, int32_t a_step,
                         const float *b, int32_t b_step, float *out) {
  int32_t i;
  switch (function) {
    FORMULA_CASE(ADD, x + y);
    FORMULA_CASE(SUB, x - y);
    FORMULA_CASE(MUL, x * y);
    FORMULA_CASE(DIV, x / y);
    FORMULA_CASE(MINIMUM, x < y ? x : y);
    FORMULA_CASE(MAXIMUM, x > y ? x : y);
    FORMULA_CASE(ABS, fabsf(x));
    FORMULA_CASE(NEG, -x);
    FORMULA_CASE(RELU, memopt_clamp_f32(x, 0.0f, 3.402823466e+38f));
    FORMULA_CASE(RELU6, memopt_clamp_f32(x, 0.0f, 6.0f));
    FORMULA_CASE(SQRT, sqrtf(x));
    FORMULA_CASE(SQUARE, x * x);
#if MEMOPT_WITH_FORMULA_ERF
    FORMULA_CASE(ERF, erff(x));
#endif
#if MEMOPT_WITH_FORMULA_EXP
    FORMULA_CASE(EXP, expf(x));
#endif
#if MEMOPT_WITH_FORMULA_LOG
    FORMULA_CASE(LOG, logf(x));
#endif
#if MEMOPT_WITH_FORMULA_LOGISTIC
    FORMULA_CASE(LOGISTIC, 1.0f / (1.0f + expf(-x)));
#endif
#if MEMOPT_WITH_FORMULA_POW
    FORMULA_CASE(POW, powf(x, y));
#endif
#if MEMOPT_WITH_FORMULA_TANH
    FORMULA_CASE(TANH, tanhf(x));
#endif
    default:
      break;
  }
}

KERNEL(scratch) {
  float registers[FORMULA_REGISTERS][FORMULA_BLOCK];
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *const input = (const float *)memopt_in_row(rows, in, 0, row);
    float *const output = (float *)memopt_out_row(rows, out, row);
    int32_t begin;
    for (begin = 0; begin < p->row_n; begin += FORMULA_BLOCK) {
      const int32_t rest = p->row_n - begin;
      const int32_t n = rest < FORMULA_BLOCK ? rest : FORMULA_BLOCK;
      const uint8_t *step = p->steps;
      int32_t k;
      memcpy(registers[0], input + begin, (size_t)n * sizeof(float));
      for (k = 0; k < p->step_n; ++k, step += 4) {
        const float *operands[2];
        int32_t strides[2], i;
        for (i = 0; i < 2; ++i) {
          const int32_t from = step[2 + i];
          strides[i] = from < FORMULA_REGISTERS;
          operands[i] = strides[i] ? registers[from] : p->numbers + (from - FORMULA_REGISTERS);
        }
        formula_step(step[0], n, operands[0], strides[0], operands[1], strides[1],
                     k == p->step_n - 1 ? output + begin : registers[step[1]]);
      }
    }
  }
}
