/* TOPK_V2, float32: the largest numbers of each row, or where they stand. */
#include "memopt_top_k.h"

typedef struct {
  int32_t length, kept;
  int32_t indices; /* bytes of each; 0: the numbers instead */
} memopt_top_k_f32_params;

MEMOPT_KERNEL void memopt_top_k_f32(const void *params, const memopt_rows *rows,
                                    const void *const *in, void *out, void *scratch) {
  const memopt_top_k_f32_params *p = (const memopt_top_k_f32_params *)params;
  (void)scratch;
  MEMOPT_TOP_K(float, p);
}
