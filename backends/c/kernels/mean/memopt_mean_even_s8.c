/* MEAN and SUM over neighbouring axes, int8 as ONNX has them: [rows][count][inner] to [rows][inner]. */
#include "memopt_even_sums_s8.h"
#include "memopt_mean.h"

typedef struct {
  int32_t count, inner;
  int32_t offset; /* count * the input's zero point */
  int32_t output_zero_point;
  const int32_t *line, *least; /* see memopt_even_sum_s8 */
  int32_t parts;               /* see memopt_part */
} memopt_mean_even_s8_params;

static inline int8_t mean_even_s8(const memopt_mean_even_s8_params *p, int32_t sum) {
  return memopt_even_sum_s8(p->line, p->least, sum, p->output_zero_point, -128, 127);
}

KERNEL(scratch) {
  MEMOPT_MEAN(int8_t, mean_even_s8, p);
}
