/* KIND  TYPE
 * f32   float
 * i32   int32_t
 * i64   int64_t
 * s8    int8_t
 * u8    uint8_t
 */
/* TOPK_V2 of KIND: the largest numbers of each row, or where they stand. */
#include "memopt_top_k.h"

typedef struct {
  int32_t length, kept;
  int32_t indices; /* bytes of each; 0: the numbers instead */
} memopt_top_k_KIND_params;

KERNEL(scratch) {
  MEMOPT_TOP_K(TYPE, p);
}
