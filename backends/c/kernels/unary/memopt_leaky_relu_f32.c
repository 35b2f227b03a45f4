/* LEAKY_RELU, float32: x, below zero x * alpha. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
  float alpha;
} memopt_leaky_relu_f32_params;

MEMOPT_KERNEL void memopt_leaky_relu_f32(const void *params, const memopt_rows *rows,
                                         const void *const *in, void *out, void *scratch) {
  const memopt_leaky_relu_f32_params *p = (const memopt_leaky_relu_f32_params *)params;
  MEMOPT_EACH(float, p, x > 0.0f ? x : x * p->alpha);
}
