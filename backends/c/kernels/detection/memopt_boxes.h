/* Boxes and how much of them they share. */
#ifndef MEMOPT_BOXES_H
#define MEMOPT_BOXES_H

#include "memopt_common.h"

typedef struct {
  float y0, x0, y1, x1;
} memopt_box;

/* Area in both by area in either, 0 of a box without area. */
static inline float memopt_box_overlap(const memopt_box *a, const memopt_box *b) {
  const float area_a = (a->y1 - a->y0) * (a->x1 - a->x0);
  const float area_b = (b->y1 - b->y0) * (b->x1 - b->x0);
  const float high = (a->y1 < b->y1 ? a->y1 : b->y1) - (a->y0 > b->y0 ? a->y0 : b->y0);
  const float wide = (a->x1 < b->x1 ? a->x1 : b->x1) - (a->x0 > b->x0 ? a->x0 : b->x0);
  const float both = (high > 0.0f ? high : 0.0f) * (wide > 0.0f ? wide : 0.0f);
  if (area_a <= 0.0f || area_b <= 0.0f) {
    return 0.0f;
  }
  return both / (area_a + area_b - both);
}

#endif
