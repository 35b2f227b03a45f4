/* Recurrent layers whose weights are float32. */
#ifndef MEMOPT_RECURRENT_F32_H
#define MEMOPT_RECURRENT_F32_H

#include "memopt_dot_f32.h"
#include "memopt_recurrent.h"

typedef struct {
  int32_t batches, in_n, units, kept; /* a step makes kept * units numbers */
  int32_t in_batch, out_batch;        /* numbers from a batch to the next */
  int32_t reverse; /* from the last step on */
  int32_t starts;  /* whether operand 1 is the initial state, else it is `start`, or zeros */
  float clip;
  const float *weights;   /* [gates][units][in_n] */
  const float *recurrent; /* [gates][units][units] */
  const float *bias;
  const float *start; /* [batches][states][units] */
} memopt_recurrent_sizes_f32;

/* What is added to sums of a block of units, from w on, which begin with those at `from`, or, if it is
 * null, go on; `w` and `from` move on to the next block. */
typedef struct {
  const float *x, *w, *from;
  float *acc;
  int32_t n;
} memopt_recurrent_part;

typedef struct {
  memopt_recurrent_part parts[2 * MEMOPT_SUMS];
  memopt_recurrent_part *end;
} memopt_recurrent_plan_f32;

/* Sums, one or more, each a block of `acc`, for memopt_recurrent_block_f32. */
static inline void memopt_recurrent_begin_f32(memopt_recurrent_plan_f32 *plan,
                                              const memopt_recurrent_sizes_f32 *z,
                                              const memopt_recurrent_sum *sums, int32_t count,
                                              float *acc) {
  memopt_recurrent_part *part;
  int32_t i;
  plan->end = 0;
  part = plan->parts;
  for (i = 0; i < count; ++i) {
    const int32_t row = sums[i].gate * z->units;
    const int32_t units = sums[i].held ? z->units : 0;
    part->from = z->bias + sums[i].bias * z->units;
    if (sums[i].x) {
      part->x = sums[i].x;
      part->w = z->weights + row * z->in_n;
      part->acc = acc;
      part->n = z->in_n;
      ++part;
      part->from = 0;
    }
    if (units > 0 || !sums[i].x) {
      part->x = sums[i].held;
      part->w = z->recurrent + row * z->units;
      part->acc = acc;
      part->n = units;
      ++part;
    }
    acc += MEMOPT_UNITS;
  }
  plan->end = part;
}

/* The sums of the next block, of units 0 to `last`. */
MEMOPT_FAST
static MEMOPT_NOINLINE void memopt_recurrent_block_f32(memopt_recurrent_plan_f32 *plan,
                                                       int32_t last) {
  memopt_recurrent_part *part = plan->parts;
#if MEMOPT_DOTS_F32_ASM
  if (last >= MEMOPT_UNITS - 1) { /* registers are saved once */
    __asm__ volatile(
        "0:\n ldm %[part]!, {r2-r6}\n cbz r4, 6f\n"
        "vldmia r4!, {s24-s31}\n str r4, [%[part], #-12]\n"
        "6:\n add r4, r3, r6, lsl #2\n add r5, r3, r6, lsl #3\n add r8, r4, r6, lsl #3\n"
        "add r9, r3, r6, lsl #4\n add r10, r4, r6, lsl #4\n add r11, r5, r6, lsl #4\n"
        "add r12, r8, r6, lsl #4\n"
        MEMOPT_DOT_1X8_F32("r2", "r3", "r4", "r5", "r8", "r9", "r10", "r11", "r12", "r6")
        "ldr r4, [%[part], #-8]\n str r12, [%[part], #-16]\n vstmia r4, {s24-s31}\n"
        "cmp %[part], %[end]\n bne.w 0b\n"
        : [part] "+r"(part)
        : [end] "r"(plan->end)
        : MEMOPT_DOTS_F32_CHANGE, "s28", "s29", "s30", "s31", "r2", "r3", "r4", "r5", "r6", "r8",
          "r9", "r10", "r11", "r12");
    return;
  }
#endif
  for (; part != plan->end; ++part) {
    memopt_dots_f32 of = {part->acc, part->n, part->n, last, 4 * part->n};
    if (part->from) {
      memopt_recurrent_bias(part->from, last, part->acc);
      part->from += MEMOPT_UNITS;
    }
    if (last >= MEMOPT_UNITS - 1) {
      memopt_dot_1x8_f32(part->x, part->w, &of, part->acc);
      part->w += MEMOPT_UNITS * part->n;
      continue;
    }
    memopt_dot_1x4_f32(part->x, part->w, &of, part->acc);
    if (last >= 4) {
      of.from += 4;
      of.last = last - 4;
      memopt_dot_1x4_f32(part->x, part->w + 4 * part->n, &of, part->acc + 4);
    }
  }
}

#endif
