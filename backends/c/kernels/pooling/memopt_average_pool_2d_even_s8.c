/* AVERAGE_POOL_2D, int8 as ONNX has it, NHWC: the result may be of another quantization. */
#include "memopt_average_pool_2d_s8.h"
#include "memopt_even_sums_s8.h"

typedef struct {
  memopt_pool_2d_window window;
  int32_t act_min, act_max;
  int32_t input_zero_point, output_zero_point;
  const int32_t *lines, *least; /* a line for each number of taps, see memopt_even_sum_s8 */
  int32_t parts;                /* see memopt_part */
} memopt_average_pool_2d_even_s8_params;

static inline int8_t average_pool_2d_even_s8(const memopt_average_pool_2d_even_s8_params *p,
                                             int32_t sum, int32_t count) {
  const int32_t *line = p->lines;
  while (line[0] != count) {
    line += MEMOPT_EVEN_SUM_NUMBERS;
  }
  return memopt_even_sum_s8(line, p->least, sum - count * p->input_zero_point,
                            p->output_zero_point, p->act_min, p->act_max);
}

MEMOPT_SMALL
KERNEL {
  MEMOPT_AVERAGE_POOL_2D_S8(average_pool_2d_even_s8, p);
}
