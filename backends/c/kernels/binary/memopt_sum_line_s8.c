/* ADD and SUB, int8, by one line of integers: tried with all pairs of bytes when this was written, so that
 * it is what TensorFlow Lite Micro or ONNX has. Rows and steps: see memopt_binary.h. */
#include "memopt_binary.h"
#include "memopt_dsp_s8.h"
#include "memopt_mve_s8.h"

typedef struct {
  int32_t row_n;
  int32_t a_multiplier, b_multiplier, base, shift;
  int32_t act_min, act_max, full; /* full: the ends are those of int8 */
  int32_t a_step, b_step;
  int32_t a_row_step, b_row_step;
} memopt_sum_line_s8_params;

/* Before the activation. */
static inline int32_t sum_line_s8(const memopt_sum_line_s8_params *p, int32_t a, int32_t b) {
  const int32_t sum = b * p->b_multiplier + p->base + a * p->a_multiplier;
  return memopt_saturate_s8(memopt_shift_right(sum, p->shift));
}

/* `output` may be `a` or `b`. */
static inline void sum_line_row(const memopt_sum_line_s8_params *p, const int8_t *a,
                                const int8_t *b, int8_t *output) {
#if MEMOPT_MVE
  memopt_sum_line_mve(a, vdupq_n_s32(p->a_multiplier), b, p->b_multiplier, p->base, p->shift,
                      p->row_n, vdupq_n_s32(p->act_min), vdupq_n_s32(p->act_max), output);
#else
  const memopt_sum_line_s8_params local = *p; /* no store can change it */
  int32_t n;
  for (n = local.row_n; n >= 4; n -= 4) {
#if MEMOPT_DOT_DSP
    const uint32_t as = memopt_load_s8x4(a);
    const uint32_t bs = memopt_load_s8x4(b);
    output[0] = (int8_t)sum_line_s8(&local, (int8_t)as, (int8_t)bs);
    output[1] = (int8_t)sum_line_s8(&local, (int8_t)(as >> 8), (int8_t)(bs >> 8));
    output[2] = (int8_t)sum_line_s8(&local, (int8_t)(as >> 16), (int8_t)(bs >> 16));
    output[3] = (int8_t)sum_line_s8(&local, (int8_t)(as >> 24), (int8_t)(bs >> 24));
#else
    output[0] = (int8_t)sum_line_s8(&local, a[0], b[0]);
    output[1] = (int8_t)sum_line_s8(&local, a[1], b[1]);
    output[2] = (int8_t)sum_line_s8(&local, a[2], b[2]);
    output[3] = (int8_t)sum_line_s8(&local, a[3], b[3]);
#endif
    a += 4;
    b += 4;
    output += 4;
  }
  for (; n > 0; --n) {
    *output++ = (int8_t)sum_line_s8(&local, *a++, *b++);
  }
  if (!p->full) {
    for (n = p->row_n; n > 0; --n) {
      --output;
      *output = (int8_t)memopt_clamp(*output, p->act_min, p->act_max);
    }
  }
#endif
}

MEMOPT_FAST
KERNEL(scratch) {
  if (p->a_step == 1 && p->b_step == 1) {
    int32_t row;
    for (row = rows->out_begin; row < rows->out_end; ++row) {
      const int8_t *a = (const int8_t *)memopt_in_row(
          rows, in, 0, p->a_row_step > 0 ? row : rows->in_first);
      const int8_t *b = (const int8_t *)memopt_in_row(
          rows, in, 1, p->b_row_step > 0 ? row : rows->in_first);
      sum_line_row(p, a, b, (int8_t *)memopt_out_row(rows, out, row));
    }
    return;
  }
  MEMOPT_BINARY(int8_t, p, memopt_clamp(sum_line_s8(p, x, y), p->act_min, p->act_max));
}
