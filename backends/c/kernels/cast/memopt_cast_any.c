/* CAST between any two types, where there is no kernel for the pair: integers keep their lowest
 * bytes, floats are as in memopt_cast_f32_s8.c, and what is not 0 is true. */
#include "memopt_common.h"

enum { CAST_F32, CAST_S8, CAST_U8, CAST_S16, CAST_I32, CAST_I64, CAST_BOOL };

typedef struct {
  int32_t row_n;
  int32_t from, to; /* CAST_... */
} memopt_cast_any_params;

static int64_t cast_any_read(const void *input, int32_t i, int32_t from) {
  switch (from) {
    case CAST_S8:
      return ((const int8_t *)input)[i];
    case CAST_S16:
      return ((const int16_t *)input)[i];
    case CAST_I32:
      return ((const int32_t *)input)[i];
    case CAST_I64:
      return ((const int64_t *)input)[i];
    default:
      return ((const uint8_t *)input)[i];
  }
}

/* Towards zero, the nearest of what `to` holds: floats that are as large as its ends. */
static int64_t cast_any_whole(float value, int32_t to) {
  const float ends[] = {0.0f, 127.0f, 255.0f, 32767.0f, 2147483520.0f, 9223371487098961920.0f};
  const float most = ends[to];
  const float least = to == CAST_U8 ? 0.0f : to >= CAST_I32 ? -most : -most - 1.0f;
  if (value != value) {
    return 0;
  }
  if (value < least && to == CAST_I32) {
    return -2147483647 - 1;
  }
  return (int64_t)memopt_clamp_f32(value, least, most);
}

static void cast_any_write(void *output, int32_t i, int32_t to, int64_t value) {
  const uint64_t bits = (uint64_t)value;
  switch (to) {
    case CAST_F32:
      ((float *)output)[i] = (float)value;
      break;
    case CAST_S16:
      ((uint16_t *)output)[i] = (uint16_t)(bits & 0xffffu);
      break;
    case CAST_I32:
      ((uint32_t *)output)[i] = (uint32_t)(bits & 0xffffffffu);
      break;
    case CAST_I64:
      ((int64_t *)output)[i] = value;
      break;
    case CAST_BOOL:
      ((uint8_t *)output)[i] = value != 0;
      break;
    default:
      ((uint8_t *)output)[i] = (uint8_t)(bits & 0xffu);
  }
}

/* `output` may be `input`. */
KERNEL {
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const void *input = memopt_in_row(rows, in, 0, row);
    void *output = memopt_out_row(rows, out, row);
    int32_t i;
    for (i = 0; i < p->row_n; ++i) {
      if (p->from == CAST_F32) {
        const float value = ((const float *)input)[i];
        const int64_t whole = p->to == CAST_BOOL ? value != 0.0f : cast_any_whole(value, p->to);
        cast_any_write(output, i, p->to, whole);
      } else {
        cast_any_write(output, i, p->to, cast_any_read(input, i, p->from));
      }
    }
  }
}
