/* FULLY_CONNECTED, int8, as memopt_fully_connected_packed_s8 of many taps: more instructions, fewer
 * cycles.
 */
#include "memopt_common.h"
#include "memopt_packed_s8.h"

typedef struct {
  int32_t in_n, out_n;
  memopt_packed packed; /* half its column is the scratch */
} memopt_fully_connected_packed_long_s8_params;

#if MEMOPT_ASM_BLOCK
/* Eight steps of 72 bytes and 16 products, one LDR after the other. */
#define FULLY_CONNECTED_LONG(begin, finish)                                                    \
  MEMOPT_ASM_BLOCKS_1(                                                                         \
      "and r7, r7, #56\n add r7, r7, r7, lsl #3\n",                                            \
      "ldr.w r8, [r0, #4]\n ldr.w r10, [r1, #4]\n ldr.w r11, [r1, #8]\n ldr.w r12, [r1, #12]\n" \
      "ldr.w r7, [r0], #8\n ldr.w r9, [r1], #16\n", begin, finish)

/* As memopt_blocks_1x4. */
__attribute__((naked, noinline, unused, aligned(4))) static void fully_connected_long_blocks(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out __attribute__((unused)),
    int32_t z __attribute__((unused)), const uint32_t *w_end __attribute__((unused))) {
  __asm__(FULLY_CONNECTED_LONG(MEMOPT_ASM_ZERO_1, MEMOPT_ASM_CHANNELS_1));
}
#if MEMOPT_ROUND_EVEN && MEMOPT_EVEN_FPU
/* As memopt_float_blocks_1x4, likewise. */
__attribute__((naked, noinline, unused, aligned(4))) static void fully_connected_float_blocks(
    const uint32_t *column __attribute__((unused)), const uint32_t *w __attribute__((unused)),
    const uint32_t *end __attribute__((unused)), int8_t *out __attribute__((unused)),
    int32_t z __attribute__((unused)), const uint32_t *w_end __attribute__((unused))) {
  __asm__(FULLY_CONNECTED_LONG(MEMOPT_ASM_FLOAT_BIAS_1, MEMOPT_ASM_FLOATS_1));
}
#endif /* MEMOPT_ROUND_EVEN */
#endif

/* All channels of one sample, the fused blocks by the function above. */
static void fully_connected_long(const memopt_packed *p, const uint32_t *column, int32_t channels,
                                 int8_t *out) {
#if MEMOPT_ASM_BLOCK
  memopt_packed left = *p;
#if MEMOPT_ROUND_EVEN
  if (p->kinds == 0 && p->kind == MEMOPT_FLOAT) {
#if MEMOPT_EVEN_FPU
    const int32_t blocks = channels / MEMOPT_BLOCK;
    if (blocks > 0) {
      left.stream += blocks * memopt_block_words(p);
      fully_connected_float_blocks(column, p->stream, column + p->taps / 2, out, p->zero_point,
                                   left.stream);
      channels -= blocks * MEMOPT_BLOCK;
      out += blocks * MEMOPT_BLOCK;
    }
#endif
    memopt_pixels(&left, column, channels, out, 0);
    return;
  }
#endif /* MEMOPT_ROUND_EVEN */
  while (channels > 0) {
    const int32_t blocks = channels / MEMOPT_BLOCK;
    int32_t alike = 0;
    int32_t n;
    while (alike < blocks && (left.kinds == 0 || left.kinds[alike] == MEMOPT_FUSED)) {
      ++alike;
    }
    n = alike * MEMOPT_BLOCK;
    if (alike > 0) {
      fully_connected_long_blocks(column, left.stream, column + p->taps / 2, out,
                                  2 * p->zero_point + 1,
                                  left.stream + alike * memopt_block_words(p));
    } else {
      alike = 1;
      n = channels < MEMOPT_BLOCK ? channels : MEMOPT_BLOCK;
      memopt_pixels(&left, column, n, out, 0);
    }
    left.stream += alike * memopt_block_words(p);
    left.kinds += left.kinds == 0 ? 0 : alike;
    channels -= n;
    out += n;
  }
#else
  memopt_pixels(p, column, channels, out, 0);
#endif
}

KERNEL {
  uint32_t *const column = (uint32_t *)scratch;
  int32_t row;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    int8_t *const output = (int8_t *)memopt_out_row(rows, out, row);
    memopt_widen_sample(column, (const int8_t *)memopt_in_row(rows, in, 0, row), p->in_n);
    fully_connected_long(&p->packed, column, p->out_n, output);
    if (!p->packed.full) {
      memopt_clamp_s8(output, p->out_n, p->packed.act_min, p->packed.act_max);
    }
  }
}
