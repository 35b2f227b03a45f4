/* GELU, float32: x times the normal distribution up to x, exactly or by a tanh. */
#include "memopt_each.h"

#include <math.h>

typedef struct {
  int32_t row_n;
  int32_t approximate;
} memopt_gelu_f32_params;

static inline float gelu_f32(const memopt_gelu_f32_params *p, float x) {
  const float half = 0.5f * x;
  return p->approximate ? half * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)))
                        : half * erfcf(x * -0.707106781f);
}

KERNEL {
  MEMOPT_EACH(float, p, gelu_f32(p, x));
}
