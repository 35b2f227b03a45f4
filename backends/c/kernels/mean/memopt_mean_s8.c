/* MEAN over neighbouring axes, int8: [rows][count][inner] to [rows][inner]. */
#include "memopt_mean.h"

typedef struct {
  int32_t count, inner;
  int32_t offset; /* count * the input's zero point */
  int32_t multiplier, shift; /* of the scales and 1 / count; as memopt_requantize takes them */
  int32_t output_zero_point;
#if MEMOPT_ROUND_EVEN
  double scale; /* of the input; 0 where the mean is not rounded to even */
  float output_scale;
#endif
  int32_t parts; /* see memopt_part */
} memopt_mean_s8_params;

static inline int8_t mean_s8(const memopt_mean_s8_params *p, int32_t sum) {
#if MEMOPT_ROUND_EVEN
  if (p->scale > 0) {
    sum = memopt_mean_even(sum, p->count, p->scale, p->output_scale);
    return (int8_t)memopt_clamp(sum + p->output_zero_point, -128, 127);
  }
#endif
  return MEMOPT_STORED_MEAN(int8_t, -128, 127, p, sum);
}

KERNEL(scratch) {
  MEMOPT_MEAN(int8_t, mean_s8, p);
}
