/* Custom operators, which you write: what they are given. */
#ifndef MEMOPT_CUSTOM_H
#define MEMOPT_CUSTOM_H

#include <stdint.h>

enum {
  MEMOPT_FLOAT32,
  MEMOPT_INT8,
  MEMOPT_UINT8,
  MEMOPT_INT16,
  MEMOPT_INT32,
  MEMOPT_INT64,
  MEMOPT_BOOL, /* bytes, 0 or 1 */
  MEMOPT_UINT16,
  MEMOPT_UINT32,
  MEMOPT_UINT64
};

/* What is known of a tensor. Real = scale * (stored - zero_point); a scale of 0 is of numbers that
 * stand for themselves, and of weights with a scale per channel. */
typedef struct {
  int32_t type;
  int32_t bytes; /* of all elements */
  int32_t rank;
  int32_t sizes[8]; /* of each dimension, the last is that of neighbours */
  float scale;
  int32_t zero_point;
} memopt_custom_facts;

/* An input, which is not to be written, or an output. */
typedef struct {
  void *data; /* aligned to its elements */
  const memopt_custom_facts *facts;
} memopt_custom_tensor;

/* Inputs and outputs are those of the model's file in its order, without those that it leaves out.
 * `scratch` (aligned to 4 bytes) and `state` (to 8) have as many bytes as were declared, and are
 * null if none were. What is in `scratch` at first is anything; `state` stays from one run to the
 * next, is of this operator alone, and is zero before the first run. `options` are the operator's
 * bytes in the file. */
typedef void memopt_custom_function(const memopt_custom_tensor *inputs,
                                    const memopt_custom_tensor *outputs, void *scratch,
                                    void *state, const uint8_t *options, int32_t options_bytes);

#endif
