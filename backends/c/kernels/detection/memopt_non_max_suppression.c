/* NON_MAX_SUPPRESSION_V4 and V5 (TensorFlow Lite, non_max_suppression.h). The call of part 0 leaves
 * in scratch how many boxes there are and their scores, and writes their numbers; the others write
 * those. Operands are boxes, scores, how much two may share, the least score, and sigma. */
#include "memopt_boxes.h"

#include <math.h>

typedef struct {
  int32_t part; /* 1: scores, 2: how many */
  int32_t boxes, most;
  int32_t has_sigma;
} memopt_non_max_suppression_params;

/* The corner of the least y and x first. */
static memopt_box suppression_box(const float *b) {
  memopt_box box;
  box.y0 = b[0] < b[2] ? b[0] : b[2];
  box.x0 = b[1] < b[3] ? b[1] : b[3];
  box.y1 = b[0] < b[2] ? b[2] : b[0];
  box.x1 = b[1] < b[3] ? b[3] : b[1];
  return box;
}

/* Numbers of the boxes go to `to`, their scores to `scores`; returns how many. `left` is the score of
 * each box that may still come, `begin` how many it was compared with. */
static int32_t suppression_find(const memopt_non_max_suppression_params *p, const void *const *in,
                                int32_t *to, float *scores, float *left, int32_t *begin) {
  const float *boxes = (const float *)in[0];
  const float most_shared = *(const float *)in[2];
  const float least = *(const float *)in[3];
  const float sigma = p->has_sigma ? *(const float *)in[4] : 0.0f;
  const float scale = sigma > 0.0f ? (float)(-0.5 / (double)sigma) : 0.0f;
  int32_t most = 0;
  int32_t count = 0;
  int32_t i, j;
  for (i = 0; i < p->boxes; ++i) {
    const float score = ((const float *)in[1])[i];
    left[i] = score > least ? score : -INFINITY;
    begin[i] = 0;
    most += score > least && most < p->most ? 1 : 0;
  }
  while (count < most) {
    int32_t best = -1;
    int32_t is_out = 0;
    float score;
    memopt_box box;
    for (i = 0; i < p->boxes; ++i) {
      if (left[i] > (best < 0 ? -INFINITY : left[best])) {
        best = i;
      }
    }
    if (best < 0) {
      break;
    }
    score = left[best];
    box = suppression_box(boxes + 4 * best);
    for (j = count - 1; j >= begin[best]; --j) {
      const memopt_box other = suppression_box(boxes + 4 * to[j]);
      const float shared = memopt_box_overlap(&box, &other);
      is_out = shared >= most_shared;
      if (is_out) {
        break;
      }
      if (sigma > 0.0f) {
        score *= expf(scale * shared * shared);
      }
      if (score <= least) {
        break;
      }
    }
    begin[best] = count;
    if (!is_out && score >= left[best]) {
      scores[count] = score;
      to[count++] = best;
    }
    left[best] = is_out || score <= least ? -INFINITY : score;
  }
  return count;
}

KERNEL {
  int32_t *const count = (int32_t *)scratch;
  float *const scores = (float *)scratch + 1;
  int32_t i;
  (void)rows;
  if (p->part == 0) {
    int32_t *const numbers = (int32_t *)out;
    float *const left = scores + p->most;
    int32_t *const begin = (int32_t *)(void *)(left + p->boxes);
    *count = suppression_find(p, in, numbers, scores, left, begin);
    for (i = *count; i < p->most; ++i) {
      numbers[i] = 0;
    }
  } else if (p->part == 1) {
    for (i = 0; i < p->most; ++i) {
      ((float *)out)[i] = i < *count ? scores[i] : 0.0f;
    }
  } else {
    *(int32_t *)out = *count;
  }
}
