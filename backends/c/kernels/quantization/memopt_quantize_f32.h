/* QUANTIZE of one float32, for every type that it is stored as. */
#ifndef MEMOPT_QUANTIZE_F32_H
#define MEMOPT_QUANTIZE_F32_H

#include "memopt_common.h"

#include <math.h>

/* round(value / scale) + zero point within low..high, ties to even as onnxruntime does, or away from
 * zero as TensorFlow Lite. Zero points are those of at most 16 bits. */
static inline int32_t memopt_quantized(float value, float scale, int32_t zero_point, int32_t even,
                                       int32_t low, int32_t high) {
  const float ratio = value / scale;
  if (even && high - low < 256) { /* with a zero point of 8 bits, what it clamps is out of range */
    return memopt_clamp(memopt_round_even(ratio) + zero_point, low, high);
  }
  const float steps = even ? ratio : roundf(ratio);
  /* Clamped before the conversion, which is undefined for what an int32 cannot hold. */
  const float clamped = memopt_clamp_f32(steps, -131072.0f, 131072.0f);
  /* A float of 2^23 and more has no fraction. */
  const int32_t whole = (int32_t)(even ? (clamped + 12582912.0f) - 12582912.0f : clamped);
  return memopt_clamp(whole + zero_point, low, high);
}

#endif
