/* Indices that are only known at run time. */
#ifndef MEMOPT_INDEX_H
#define MEMOPT_INDEX_H

#include "memopt_common.h"

/* Index number `n`, of 64 bits if they are `wide`, or the nearest one below `length`. */
static inline int32_t memopt_index(const void *indices, int32_t n, int32_t wide, int32_t length) {
  if (wide) {
    const int64_t at = ((const int64_t *)indices)[n];
    return at < 0 ? 0 : at < length ? (int32_t)at : length - 1;
  }
  return memopt_clamp(((const int32_t *)indices)[n], 0, length - 1);
}

#endif
