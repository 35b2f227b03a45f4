/* What makes one number of those over neighbouring axes: [rows][count][inner] to [rows][inner]. */
#ifndef MEMOPT_REDUCE_H
#define MEMOPT_REDUCE_H

#include "memopt_common.h"

/* `so_far` begins as `first` and becomes `next` with each number `x`, at index `n`; both may use
 * `place`, which begins as 0. `store` puts number `i` of the result into `output`. p is the kernel's
 * parameters, with `count` and `inner`; rows, in and out its arguments. */
#define MEMOPT_REDUCE_TO(type, p, first, next, store)                          \
  do {                                                                         \
    int32_t row;                                                               \
    for (row = rows->out_begin; row < rows->out_end; ++row) {                  \
      const type *const input = (const type *)memopt_in_row(rows, in, 0, row); \
      void *const output = memopt_out_row(rows, out, row);                     \
      int32_t i;                                                               \
      for (i = 0; i < (p)->inner; ++i) {                                       \
        const type *at = input + i;                                            \
        type so_far = (first);                                                 \
        int32_t place = 0;                                                     \
        int32_t n;                                                             \
        for (n = 0; n < (p)->count; ++n) {                                     \
          const type x = *at;                                                  \
          next;                                                                \
          at += (p)->inner;                                                    \
        }                                                                      \
        (void)place;                                                           \
        store;                                                                 \
      }                                                                        \
    }                                                                          \
  } while (0)

/* The result is `made`, of type `result`. */
#define MEMOPT_REDUCE(type, result, p, first, next, made) \
  MEMOPT_REDUCE_TO(type, p, first, next, ((result *)output)[i] = (made))

/* The index of the largest number, or with `least` of the smallest, of int32 or `wide`. */
#define MEMOPT_ARG(type, p)                                                     \
  MEMOPT_REDUCE_TO(type, p, *at, if ((p)->least ? x < so_far : x > so_far) {    \
    so_far = x;                                                                 \
    place = n;                                                                  \
  }, if ((p)->wide) {                                                           \
    ((int64_t *)output)[i] = place;                                             \
  } else {                                                                      \
    ((int32_t *)output)[i] = place;                                             \
  })

#endif
