/* MEAN over neighbouring axes, uint8: [rows][count][inner] to [rows][inner]. */
#include "memopt_mean.h"

typedef struct {
  int32_t count, inner;
  int32_t offset; /* count * the input's zero point */
  int32_t multiplier, shift; /* of the scales and 1 / count; as memopt_requantize takes them */
  int32_t output_zero_point;
  int32_t parts; /* see memopt_part */
} memopt_mean_u8_params;

static inline uint8_t mean_u8(const memopt_mean_u8_params *p, int32_t sum) {
  return MEMOPT_STORED_MEAN(uint8_t, 0, 255, p, sum);
}

MEMOPT_KERNEL void memopt_mean_u8(const void *params, const memopt_rows *rows,
                                 const void *const *in, void *out, void *scratch) {
  const memopt_mean_u8_params *p = (const memopt_mean_u8_params *)params;
  (void)scratch;
  MEMOPT_MEAN(uint8_t, mean_u8, p);
}
