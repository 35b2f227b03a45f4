/* Calls what the user has written of a custom operator. */
#include "memopt_common.h"
#include "memopt_custom.h"

#include <stddef.h>

typedef struct {
  memopt_custom_function *function;
  int32_t inputs, outputs;
  int32_t has_state;
  memopt_custom_facts facts[16]; /* of inputs, then outputs */
  const uint8_t *options;
  int32_t options_bytes;
} memopt_custom_params;

/* Operands are inputs, then outputs, then the state. */
KERNEL {
  const int32_t count = p->inputs + p->outputs;
  memopt_custom_tensor tensors[16];
  int32_t i;
  (void)rows;
  (void)out;
  for (i = 0; i < count; ++i) {
    tensors[i].data = memopt_state(in[i]);
    tensors[i].facts = &p->facts[i];
  }
  p->function(tensors, tensors + p->inputs, scratch,
              p->has_state ? memopt_state(in[count]) : NULL, p->options, p->options_bytes);
}
