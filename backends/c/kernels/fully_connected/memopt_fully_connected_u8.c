/* FULLY_CONNECTED, uint8, weights with a zero point of their own. A row is one sample. */
#include "memopt_fully_connected_offset.h"

typedef struct {
  int32_t in_n, out_n;
  int32_t input_zero_point, output_zero_point;
  int32_t act_min, act_max;
  int32_t rounds_once; /* as TensorFlow Lite does */
  int32_t weights_zero_point;
  const uint8_t *weights;    /* [out_n][in_n] */
  const int32_t *bias;       /* [out_n] */
  const int32_t *multiplier; /* [1] */
  const int8_t *shift;       /* [1], as memopt_requantize or memopt_requantize_once takes it */
  int32_t parts;             /* see memopt_part: each is in_n / parts elements */
} memopt_fully_connected_u8_params;

MEMOPT_FAST
KERNEL {
  MEMOPT_FULLY_CONNECTED_OFFSET(
      uint8_t, p,
      p->rounds_once ? memopt_requantize_once(acc, p->multiplier[0], p->shift[0])
                     : memopt_requantize(acc, p->multiplier[0], p->shift[0]));
}
