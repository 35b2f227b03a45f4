/* A MEAN of several that are added up, float32: [rows][count][inner] to [rows][inner]. It overwrites
 * what is there or is added to it, and the last one divides by how many they are.
 */
#include "memopt_common.h"

typedef struct {
  int32_t count, inner;
  int32_t adds;  /* to what is there */
  int32_t means; /* to divide by */
} memopt_mean_sum_f32_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *input = (const float *)memopt_in_row(rows, in, 0, row);
    float *output = (float *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->inner; ++i) {
      const float *x = input + i;
      float sum = 0.0f;
      int32_t n;
      for (n = p->count; n > 0; --n) {
        sum += *x;
        x += p->inner;
      }
      sum /= (float)p->count;
      output[i] = (p->adds ? output[i] + sum : sum) / (float)p->means;
    }
  }
}
