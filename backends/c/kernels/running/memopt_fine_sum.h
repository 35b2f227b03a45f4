/* Sums of up to 15 int8 and of the stored 0 (TensorFlow Lite Micro, add_n.h, cumsum.h). */
#ifndef MEMOPT_FINE_SUM_H
#define MEMOPT_FINE_SUM_H

#include "memopt_common.h"

/* What a sum is stored as; p is the kernel's parameters. */
#define MEMOPT_FINE_SUM(p, total)                                                                \
  memopt_clamp(memopt_round_shift(memopt_high_mul((total) * ((int32_t)1 << 19), (p)->multiplier), \
                                  (p)->shift) +                                                  \
                   (p)->output_zero_point,                                                       \
               -128, 127)

#endif
