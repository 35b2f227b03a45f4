/* REAL, IMAG and COMPLEX_ABS of complex numbers of two floats. */
#include "memopt_common.h"

#include <math.h>

typedef struct {
  int32_t count;
  int32_t part; /* 0: real, 1: imaginary, 2: size */
} memopt_complex_part_f32_params;

KERNEL {
  const float *x = (const float *)in[0];
  float *output = (float *)out;
  int32_t i;
  (void)rows;
  (void)scratch;
  for (i = 0; i < p->count; ++i, x += 2) {
    output[i] = p->part == 2 ? hypotf(x[0], x[1]) : x[p->part];
  }
}
