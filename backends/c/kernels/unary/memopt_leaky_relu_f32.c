/* LEAKY_RELU, float32: x, below zero x * alpha. */
#include "memopt_each.h"

typedef struct {
  int32_t row_n;
  float alpha;
} memopt_leaky_relu_f32_params;

KERNEL {
  MEMOPT_EACH(float, p, x > 0.0f ? x : x * p->alpha);
}
