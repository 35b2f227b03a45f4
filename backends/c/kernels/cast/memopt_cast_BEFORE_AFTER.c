/* BEFORE  AFTER  FROM     TO       VALUE
 * s8      f32    int8_t   float    (float)input[i]
 * u8      f32    uint8_t  float    (float)input[i]
 * i32     f32    int32_t  float    (float)input[i]
 * s8      i32    int8_t   int32_t  input[i]
 * u8      i32    uint8_t  int32_t  input[i]
 * i32     s8     int32_t  uint8_t  (uint8_t)((uint32_t)input[i] & 0xffu)
 */
/* CAST, BEFORE to AFTER. `output` may be `input` where AFTER is no larger. */
#include "memopt_common.h"

typedef struct {
  int32_t row_n;
} memopt_cast_BEFORE_AFTER_params;

KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const FROM *input = (const FROM *)memopt_in_row(rows, in, 0, row);
    TO *output = (TO *)memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      output[i] = VALUE;
    }
  }
}
