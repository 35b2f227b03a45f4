/* LOG_SOFTMAX over the last axis, int8 -> int8 (scale 1/16, zero point 127). A row is one vector
 * (TensorFlow Lite Micro, reference/log_softmax.h).
 */
#include "memopt_fixed_point.h"

typedef struct {
  int32_t depth;              /* below 2^12 */
  int32_t entries;            /* 1 to 256 */
  const int32_t *exponential; /* of -d steps of the input, in Q12.19, as far as the runtime looks */
  int32_t multiplier;         /* from steps to Q5.26 */
  int32_t shift;
  int32_t inverse_multiplier; /* and back */
  int32_t inverse_shift;
} memopt_log_softmax_s8_params;

/* log of x >= 1 in Q12.19, in Q5.26: x is r * 2^power with r near 2^-0.25, taken from x or from
 * x * sqrt(1/2), and the logarithm of r * 2^0.25 a quotient of polynomials. Powers are in Q6.25. */
static int32_t log_at_least_one(int32_t x) {
  const int32_t sqrt_half = 1518500250;
  const int32_t root_4_half = 1805811301;
  const int32_t quarter = (int32_t)1 << 23;
  const int32_t zeros = memopt_leading_zeros((uint32_t)x);
  const int32_t less_zeros = memopt_leading_zeros((uint32_t)memopt_high_mul(x, sqrt_half)) - 1;
  const int32_t first =
      memopt_scale_up(memopt_high_mul(memopt_shift_left(x, zeros - 1), sqrt_half), 1);
  const int32_t second = memopt_scale_up(x, less_zeros);
  const int32_t first_power = (12 - zeros) * ((int32_t)1 << 25) + quarter;
  const int32_t second_power = (12 - less_zeros) * ((int32_t)1 << 25) - quarter;
  const int32_t power = first_power > second_power ? first_power : second_power;
  const int32_t r = first < second ? first : second;
  const int32_t middle = (int32_t)(((int64_t)r + root_4_half + 1) / 2);
  const int32_t q = 2 * (r - root_4_half);
  const int32_t square = memopt_high_mul(q, q);
  const int32_t above =
      memopt_high_mul(q, r) + memopt_high_mul(memopt_high_mul(q, square), 117049297);
  const int32_t inner = 1057819769 + q + memopt_high_mul(127690142, square);
  const int32_t below = memopt_high_mul(middle, inner) + memopt_high_mul(638450708, q);
  const int32_t rest = memopt_high_mul(memopt_round_shift(above, 6), memopt_reciprocal(below));
  return memopt_scale_up(memopt_high_mul(power, 1488522236) + rest, 1);
}

/* `output` may be `input`. */
MEMOPT_SMALL
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const int8_t *input = (const int8_t *)memopt_in_row(rows, in, 0, row);
    int8_t *output = (int8_t *)memopt_out_row(rows, out, row);
    int32_t max = INT8_MIN;
    int32_t sum = 0; /* at least 1 in Q12.19: the largest element counts as one */
    int32_t log_sum, seen, i;
    for (i = 0; i < p->depth; ++i) {
      max = input[i] > max ? input[i] : max;
    }
    for (i = 0; i < p->depth; ++i) {
      const int32_t below = max - input[i];
      sum += below < p->entries ? p->exponential[below] : 0;
    }
    log_sum = log_at_least_one(sum);
    seen = -memopt_requantize_wide(log_sum + INT32_MIN, p->inverse_multiplier, p->inverse_shift);
    seen = seen < p->entries ? seen : p->entries;
    for (i = 0; i < p->depth; ++i) {
      const int32_t below = max - input[i];
      int32_t value = -128;
      if (below < seen) {
        const int32_t fine = memopt_requantize_wide(-below, p->multiplier, p->shift);
        value = memopt_clamp(memopt_round_shift(fine - log_sum, 22) + 127, -128, 127);
      }
      output[i] = (int8_t)value;
    }
  }
}
