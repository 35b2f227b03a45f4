/* RELU of float32, by the toy board's absolute value. */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
} memopt_toy_relu_f32_params;

KERNEL {
  MEMOPT_EACH(float, p, 0.5f * (x + fabsf(x)));
}
