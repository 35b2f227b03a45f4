/* Mean and variance of groups of channels of an image, float32: of each row, and of what came
 * before and the row together (Chan, Golub, LeVeque 1979). */
#include "memopt_common.h"

typedef struct {
  int32_t height, width;
  int32_t groups, each; /* channels of a group */
  int32_t parts;        /* see memopt_part */
} memopt_group_statistics_f32_params;

/* Means, and behind them sums of squares of what is left, which the last part makes variances. */
KERNEL(scratch) {
  const memopt_part part = memopt_part_of(rows, in, p->parts);
  const float *const before = (const float *)part.before;
  const int32_t first = before ? rows->out_begin : 0, channels = p->groups * p->each;
  const float count = (float)(p->width * p->each);
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *const input = (const float *)memopt_in_row(rows, in, 0, row);
    float *const means = part.last ? (float *)memopt_out_row(rows, out, row) : (float *)out;
    int32_t g;
    for (g = 0; g < p->groups; ++g) {
      const float *x = input + g * p->each;
      float mean = before ? before[g] : 0.0f;
      float spread = before ? before[p->groups + g] : 0.0f;
      int32_t n, i, k;
      for (n = first; n < first + p->height / part.calls; ++n) {
        const float *const line = x;
        const float share = 1.0f / (float)(n + 1);
        float sum = 0.0f, squares = 0.0f;
        float centre, apart;
        for (i = 0; i < p->width; ++i) {
          for (k = 0; k < p->each; ++k) {
            sum += x[k];
          }
          x += channels;
        }
        centre = sum / count;
        x = line;
        for (i = 0; i < p->width; ++i) {
          for (k = 0; k < p->each; ++k) {
            const float rest = x[k] - centre;
            squares += rest * rest;
          }
          x += channels;
        }
        apart = centre - mean;
        spread += squares + apart * apart * (count * (float)n * share);
        mean += apart * share;
      }
      means[g] = mean;
      means[p->groups + g] =
          part.last ? spread / (float)(p->height * p->width * p->each) : spread;
    }
  }
}
