/* DEPTHWISE_CONV_2D, int8, NHWC, 3x3 with a stride of 1 or 2 along rows and at least four channels:
 * the columns of a row, or of a part of it, are packed in scratch, four channels at a time, and the
 * window slides over them, see memopt_columns_3x3_s8.h. The last four may be some of those before,
 * too.
 */
#include "memopt_common.h"
#include "memopt_columns_3x3_s8.h"

typedef struct {
  int32_t in_h, in_w, in_c;
  int32_t out_w, stride_h, stride_w;
  int32_t pad_top, pad_left;
  int32_t span; /* pixels of a part: an even number where the stride is 1 */
  int32_t input_zero_point;
  memopt_packed packed; /* stream and kinds of all fours of channels */
} memopt_depthwise_3x3_packed_s8_params;

/* Four channels whose columns are packed, the stream's from number `at` on. Returns what is behind
 * them in the stream. */
static inline const uint32_t *depthwise_3x3_four(const memopt_packed *p, int32_t at,
                                                 const uint32_t *columns, const uint32_t *w,
                                                 int8_t *out, memopt_columns_run *run) {
  int32_t k;
#if MEMOPT_ROUND_EVEN
  if (memopt_kind_of(p, 0) == MEMOPT_FLOAT) {
    memopt_float_run(columns, w, out, run);
    return w + MEMOPT_BLOCK * MEMOPT_COLUMNS_WORDS;
  }
#endif /* MEMOPT_ROUND_EVEN */
  if (!MEMOPT_WITH_OTHER_BLOCKS || p->kinds == 0) {
    memopt_columns(1, p->zero_point, columns, w, out, run);
    return w + MEMOPT_BLOCK * MEMOPT_COLUMNS_WORDS;
  }
  run->channels = 1;
  for (k = 0; k < MEMOPT_BLOCK; ++k) {
    const int32_t fused = p->kinds[at + k] == MEMOPT_FUSED;
    memopt_columns(fused, p->zero_point, columns + run->per * k, w, out + k, run);
    w += MEMOPT_COLUMNS_WORDS;
  }
  return w;
}

/* Columns that are not there, from `first` to `last`, of four channels: they stay. */
static void depthwise_3x3_behind(uint32_t *to, int32_t per, uint32_t zeros, int32_t first,
                                 int32_t last) {
  const uint32_t zero = memopt_sxtb16(zeros);
  int32_t k, i;
  for (k = 0; k < MEMOPT_BLOCK; ++k) {
    for (i = 3 * first; i < 3 * last; ++i) {
      to[per * k + i] = zero;
    }
  }
}

/* A part of a row of so many pixels: to begin with a column that is not there, if `left`; `inside`
 * columns are before the end of the row. */
static inline void depthwise_3x3_part(int32_t pixels, int32_t stride, int32_t left, int32_t inside,
                                      memopt_columns_of *of, memopt_columns_run *run) {
  const int32_t pairs = stride == 1 ? pixels / 2 : 0;
  const int32_t columns = pixels - pairs + 1;
  const int32_t both = (inside - left) / 2; /* of which both are there, after the first */
  const int32_t twos = both < columns - left ? both : columns - left;
  const int32_t right = left + twos < columns && 2 * both < inside - left;
  run->pairs = pairs;
  run->singles = pixels - 2 * pairs;
  run->per = 3 * columns;
  of->per = 3 * columns;
  of->left = left;
  of->pairs = twos;
  of->right = right;
  depthwise_3x3_behind(of->to, 3 * columns, of->zero, left + twos + right, columns);
}

MEMOPT_SMALL
KERNEL {
  memopt_columns_run run;
  memopt_columns_of of;
  int32_t oy;
  run.step = p->in_c;
  run.channels = MEMOPT_BLOCK;
  of.to = (uint32_t *)scratch;
  of.zero = 0x01010101u * (uint8_t)p->input_zero_point;
  for (oy = rows->out_begin; oy < rows->out_end; ++oy) {
    const int32_t iy = oy * p->stride_h - p->pad_top;
    int8_t *to = (int8_t *)memopt_out_row(rows, out, oy);
    const int8_t *row[3];
    int32_t there[3]; /* a mask */
    int32_t left = p->pad_left, inside = p->in_w;
    int32_t ahead, at, k;
    for (k = 0; k < 3; ++k) {
      const int32_t is_there = iy + k >= 0 && iy + k < p->in_h;
      row[k] = (const int8_t *)(is_there ? memopt_in_row(rows, in, 0, iy + k) : &of.zero);
      there[k] = -is_there;
    }
    of.apart0 = p->in_c & there[0];
    of.apart1 = p->in_c & there[1];
    of.apart2 = p->in_c & there[2];
    for (ahead = p->out_w; ahead > 0; ahead -= p->span) {
      const uint32_t *w = p->packed.stream;
      if (p->span < p->out_w || oy == rows->out_begin) { /* else as in the row before */
        depthwise_3x3_part(ahead < p->span ? ahead : p->span, p->stride_w, left, inside, &of, &run);
      }
      for (at = 0; at < p->in_c; at += MEMOPT_BLOCK) {
        const int32_t last = p->in_c - MEMOPT_BLOCK;
        const int32_t channel = at < last ? at : last;
        of.row0 = row[0] + (channel & there[0]);
        of.row1 = row[1] + (channel & there[1]);
        of.row2 = row[2] + (channel & there[2]);
        memopt_pack_columns(&of);
        w = depthwise_3x3_four(&p->packed, at, of.to, w, to + channel, &run);
      }
      if (p->span < ahead) {
        const int32_t next = p->span * p->stride_w - left;
        const int32_t columns = next < inside ? next : inside;
        for (k = 0; k < 3; ++k) {
          row[k] += (columns * p->in_c) & there[k];
        }
        inside -= columns;
        left = 0;
        to += p->span * p->in_c;
      }
    }
    if (!p->packed.full) {
      memopt_clamp_s8((int8_t *)memopt_out_row(rows, out, oy), p->out_w * p->in_c,
                      p->packed.act_min, p->packed.act_max);
    }
  }
}
