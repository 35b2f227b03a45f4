/* Comparisons: a bit for each of less, equal, greater and neither says what is true. */
#ifndef MEMOPT_COMPARE_H
#define MEMOPT_COMPARE_H

#include "memopt_binary.h"

#define MEMOPT_COMPARED(p, x, y) \
  (((p)->relation >> ((x) < (y) ? 0 : (x) > (y) ? 2 : (x) == (y) ? 1 : 3)) & 1)

#endif
