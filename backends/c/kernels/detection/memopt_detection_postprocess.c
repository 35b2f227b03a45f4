/* TFLite_Detection_PostProcess (TensorFlow Lite, detection_postprocess.cc). The call of part 0 leaves
 * in scratch how many objects there are and which, and writes their boxes; those of the other parts
 * write classes, scores and the number. Of equal scores the first is first. */
#include "memopt_boxes.h"

#include <math.h>

typedef struct {
  int32_t part;
  int32_t boxes, offset_n; /* anchors, and numbers of each, the first four of which count */
  int32_t classes, score_n; /* the last `classes` of score_n count */
  int32_t most, limit;      /* objects, and of each class */
  int32_t each_class;       /* classes overlap */
  float y, x, h, w;
  float least, overlap;
  int32_t offset_stored, offset_zero; /* of uint8 */
  float offset_unit;
  int32_t score_stored, score_zero;
  float score_unit;
  const float *anchors; /* [boxes][4] */
} memopt_detection_postprocess_params;

typedef struct {
  float score;
  int32_t box, label;
} memopt_object;

typedef struct {
  int32_t count;
  memopt_object objects[1]; /* `most`, then the boxes, then a score for each of them */
} memopt_detections;

static float detection_read(const void *from, int32_t index, int32_t stored, int32_t zero,
                            float unit) {
  if (stored) {
    return ((float)((const uint8_t *)from)[index] - (float)zero) * unit;
  }
  return ((const float *)from)[index];
}

static void detection_decode(const memopt_detection_postprocess_params *p, const void *offsets,
                             memopt_box *boxes) {
  int32_t i, k;
  for (i = 0; i < p->boxes; ++i) {
    const float *anchor = p->anchors + 4 * i;
    double at[4];
    float middle_y, middle_x, half_h, half_w;
    for (k = 0; k < 4; ++k) {
      at[k] = (double)detection_read(offsets, i * p->offset_n + k, p->offset_stored,
                                     p->offset_zero, p->offset_unit);
    }
    middle_y = (float)(at[0] / (double)p->y * (double)anchor[2] + (double)anchor[0]);
    middle_x = (float)(at[1] / (double)p->x * (double)anchor[3] + (double)anchor[1]);
    half_h = (float)(0.5 * exp(at[2] / (double)p->h) * (double)anchor[2]);
    half_w = (float)(0.5 * exp(at[3] / (double)p->w) * (double)anchor[3]);
    boxes[i].y0 = middle_y - half_h;
    boxes[i].x0 = middle_x - half_w;
    boxes[i].y1 = middle_y + half_h;
    boxes[i].x1 = middle_x + half_w;
  }
}

/* The best class of a box from `label` on, of `count`. */
static int32_t detection_label(const memopt_detection_postprocess_params *p, const void *scores,
                               int32_t box, int32_t label, int32_t count, float *score) {
  const int32_t first = (box + 1) * p->score_n - p->classes;
  int32_t best = label;
  int32_t k;
  for (k = label; k < label + count; ++k) {
    const float value =
        detection_read(scores, first + k, p->score_stored, p->score_zero, p->score_unit);
    if (k == label || value > *score) {
      *score = value;
      best = k;
    }
  }
  return best;
}

/* An object behind those that are as good; the last one goes if there are too many. */
static void detection_add(memopt_detections *found, int32_t most, float score, int32_t box,
                          int32_t label) {
  int32_t at = found->count;
  int32_t i;
  while (at > 0 && found->objects[at - 1].score < score) {
    --at;
  }
  if (at == most) {
    return;
  }
  found->count += found->count < most ? 1 : 0;
  for (i = found->count - 1; i > at; --i) {
    found->objects[i] = found->objects[i - 1];
  }
  found->objects[at].score = score;
  found->objects[at].box = box;
  found->objects[at].label = label;
}

/* Objects of `count` classes from `label` on that are apart. The score of a box that is out is less
 * than any. */
static void detection_apart(const memopt_detection_postprocess_params *p, const void *scores,
                            int32_t label, int32_t count, const memopt_box *boxes, float *left,
                            memopt_detections *found) {
  int32_t kept, i;
  for (i = 0; i < p->boxes; ++i) {
    detection_label(p, scores, i, label, count, left + i);
    left[i] = left[i] >= p->least ? left[i] : -INFINITY;
  }
  for (kept = 0; kept < p->limit; ++kept) {
    int32_t best = -1;
    float score = 0.0f;
    for (i = 0; i < p->boxes; ++i) {
      if (left[i] > (best < 0 ? -INFINITY : left[best])) {
        best = i;
      }
    }
    if (best < 0) {
      return;
    }
    detection_add(found, p->most, left[best], best,
                  detection_label(p, scores, best, label, count, &score));
    left[best] = -INFINITY;
    for (i = 0; i < p->boxes; ++i) {
      if (left[i] > -INFINITY && memopt_box_overlap(boxes + best, boxes + i) > p->overlap) {
        left[i] = -INFINITY;
      }
    }
  }
}

KERNEL {
  memopt_detections *const found = (memopt_detections *)scratch;
  memopt_box *const boxes = (memopt_box *)(void *)(found->objects + p->most);
  float *const output = (float *)out;
  int32_t i;
  (void)rows;
  if (p->part == 0) {
    float *const left = (float *)(void *)(boxes + p->boxes);
    memopt_box *const made = (memopt_box *)out;
    const memopt_box none = {0.0f, 0.0f, 0.0f, 0.0f};
    int32_t label;
    found->count = 0;
    detection_decode(p, in[0], boxes);
    for (label = 0; label < (p->each_class ? p->classes : 1); ++label) {
      detection_apart(p, in[1], label, p->each_class ? 1 : p->classes, boxes, left, found);
    }
    for (i = 0; i < p->most; ++i) {
      made[i] = i < found->count ? boxes[found->objects[i].box] : none;
    }
  } else if (p->part == 3) {
    output[0] = (float)found->count;
  } else {
    for (i = 0; i < p->most; ++i) {
      const memopt_object *object = found->objects + i;
      const float value = p->part == 1 ? (float)object->label : object->score;
      output[i] = i < found->count ? value : 0.0f;
    }
  }
}
