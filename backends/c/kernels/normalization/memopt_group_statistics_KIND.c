/* KIND  TYPE
 * s8    int8_t
 * u8    uint8_t
 */
/* Mean and variance of groups of channels of an image of stored integers, KIND: sums of a row are
 * exact, and what came before and the row are brought together (Chan, Golub, LeVeque 1979). */
#include "memopt_common.h"

typedef struct {
  int32_t height, width;
  int32_t groups, each; /* channels of a group; width * each is at most 2^15 */
  int32_t zero_point;
  float scale, spread_scale;
  int32_t parts; /* see memopt_part */
} memopt_group_statistics_KIND_params;

/* Means, and behind them sums of squares of what is left, which the last part makes variances. */
KERNEL(scratch) {
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const float *const before = (const float *)part.before;
  const int32_t first = before ? rows->out_begin : 0, channels = p->groups * p->each;
  const int32_t count = p->width * p->each;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *const input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    float *const means = part.last ? (float *)memopt_out_row(rows, out, row) : (float *)out;
    int32_t g;
    for (g = 0; g < p->groups; ++g) {
      const TYPE *x = input + g * p->each;
      float mean = before ? before[g] : 0.0f;
      float spread = before ? before[p->groups + g] : 0.0f;
      int32_t n, i, k;
      for (n = first; n < first + p->height / part.calls; ++n) {
        const float share = 1.0f / (float)(n + 1);
        int32_t sum = 0;
        uint32_t squares = 0;
        int64_t rest;
        float apart;
        for (i = 0; i < p->width; ++i) {
          for (k = 0; k < p->each; ++k) {
            const int32_t steps = x[k] - p->zero_point;
            sum += steps;
            squares += (uint32_t)(steps * steps);
          }
          x += channels;
        }
        rest = (int64_t)squares * count - (int64_t)sum * sum;
        apart = p->scale * (float)sum / (float)count - mean;
        spread += (float)rest * p->spread_scale + apart * apart * ((float)count * (float)n * share);
        mean += apart * share;
      }
      means[g] = mean;
      means[p->groups + g] = part.last ? spread / (float)(p->height * count) : spread;
    }
  }
}
