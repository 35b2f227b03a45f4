/* Indices that are only known at run time. */
#ifndef MEMOPT_INDEX_H
#define MEMOPT_INDEX_H

#include "memopt_common.h"

/* How indices are read: of 64 bits, and of a dimension's end if they are below zero. */
#define MEMOPT_INDEX_WIDE 1
#define MEMOPT_INDEX_FROM_END 2

/* Index number `n` of a dimension of `length`. */
static inline int64_t memopt_place(const void *indices, int32_t n, int32_t form, int32_t length) {
  const int64_t at =
      form & MEMOPT_INDEX_WIDE ? ((const int64_t *)indices)[n] : ((const int32_t *)indices)[n];
  return at < 0 && (form & MEMOPT_INDEX_FROM_END) ? at + length : at;
}

/* The same, or the nearest one that there is. */
static inline int32_t memopt_index(const void *indices, int32_t n, int32_t form, int32_t length) {
  const int64_t at = memopt_place(indices, n, form, length);
  return at < 0 ? 0 : at < length ? (int32_t)at : length - 1;
}

#endif
