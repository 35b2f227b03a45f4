/* KIND         TYPE     SIGNED  SATURATED                       DIVISOR      VALUE
 * s8           int8_t   1       memopt_saturate_s8(steps)       1.0f / root  (x - mean) * factor * *scale + *shift
 * u8           uint8_t  0       memopt_clamp(steps, 0, 255)     1.0f / root  (x - mean) * factor * *scale + *shift
 * quotient_s8  int8_t   1       memopt_saturate_s8(steps)       root         (x - mean) / factor * *scale + *shift
 * quotient_u8  uint8_t  0       memopt_clamp(steps, 0, 255)     root         (x - mean) / factor * *scale + *shift
 * line_s8      int8_t   1       memopt_saturate_s8(steps)       1.0f / root  x * (factor * *scale) + (*shift - mean * (factor * *scale))
 * line_u8      uint8_t  0       memopt_clamp(steps, 0, 255)     1.0f / root  x * (factor * *scale) + (*shift - mean * (factor * *scale))
 */
/* Normalization of vectors of stored integers as ONNX says it, KIND to KIND: their sums are exact,
 * everything else in float32, step by step. A row is one vector.
 */
#include "memopt_common.h"
#include "memopt_dsp_s8.h"

#include <math.h>

typedef struct {
  int32_t depth; /* at most 2^16 */
  float epsilon; /* above 0 */
  int32_t around_zero;
  int32_t terms;              /* 0; 1, a scale; 2, a scale and a shift */
  const float *scale, *shift; /* null where they are operands */
  float spread_scale, input_scale, output_scale;
  int32_t input_zero_point, output_zero_point;
} memopt_layer_normalization_even_KIND_params;

/* `output` may be `input`. */
KERNEL(scratch) {
  static const float one = 1.0f, nothing = -0.0f; /* with which nothing changes */
  const int32_t depth = p->depth; /* no store can change it */
  const int32_t scale_step = p->terms > 0, shift_step = p->terms > 1;
  const int32_t input_zero = p->input_zero_point, output_zero = p->output_zero_point;
  const float input_scale = p->input_scale, output_scale = p->output_scale;
#if SIGNED && MEMOPT_DOT_DSP
  const uint32_t zeros = (uint32_t)(uint16_t)-input_zero * 0x10001u;
#endif
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const TYPE *input = (const TYPE *)memopt_in_row(rows, in, 0, row);
    TYPE *output = (TYPE *)memopt_out_row(rows, out, row);
    const float *scale = p->scale ? p->scale : scale_step ? (const float *)in[1] : &one;
    const float *shift = p->shift ? p->shift
                         : shift_step ? (const float *)in[2] : &nothing;
    uint32_t squares = 0;
    int32_t sum = 0;
    int64_t spread;
    float mean, root, factor;
    int32_t i = 0;
#if SIGNED && MEMOPT_DOT_DSP
    for (; i + 4 <= depth; i += 4) {
      const uint32_t word = memopt_load_s8x4((const int8_t *)input + i);
      const uint32_t even = memopt_add_even_s8(zeros, word);
      const uint32_t odd = memopt_add_odd_s8(zeros, word);
      sum = __smlad((int16x2_t)even, 0x00010001, __smlad((int16x2_t)odd, 0x00010001, sum));
      squares = (uint32_t)__smlad((int16x2_t)even, (int16x2_t)even, (int32_t)squares);
      squares = (uint32_t)__smlad((int16x2_t)odd, (int16x2_t)odd, (int32_t)squares);
    }
#endif
    for (; i < depth; ++i) {
      const int32_t steps = input[i] - input_zero;
      sum += steps;
      squares += (uint32_t)(steps * steps);
    }
    sum = p->around_zero ? 0 : sum;
    spread = (int64_t)squares * depth - (int64_t)sum * sum;
    mean = input_scale * (float)sum / (float)depth;
    root = sqrtf((float)spread * p->spread_scale + p->epsilon);
    factor = DIVISOR;
    for (i = 0; i < depth; ++i) {
      const float x = (float)(input[i] - input_zero) * input_scale;
      const float value = VALUE;
      const int32_t steps = memopt_round_even(value / output_scale) + output_zero;
      output[i] = (TYPE)(SATURATED);
      scale += scale_step;
      shift += shift_step;
    }
  }
}
