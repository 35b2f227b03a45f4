/* TreeEnsemble of ai.onnx.ml, float32: for each row the sums of the leaves that trees lead to.
 * Operands are the rows, and of each node its feature, rule, threshold and the next node where it
 * fits and where not, or of a leaf (rule 15) the first of its weights and the one behind its last;
 * of each weight its target, and itself; the first node of each tree. */
#include "memopt_common.h"

typedef struct {
  int32_t trees, targets;
} memopt_tree_ensemble_f32_params;

/* Whether x fits a rule; rules from 16 on are those of numbers, and what is no number fits. */
static int32_t tree_fits(int32_t rule, float x, float threshold) {
  switch (rule & 15) {
    case 0:
      return x <= threshold || (rule > 15 && x != x);
    case 1:
      return x < threshold || (rule > 15 && x != x);
    case 2:
      return x >= threshold || (rule > 15 && x != x);
    case 3:
      return x > threshold || (rule > 15 && x != x);
    case 4:
      return x == threshold || (rule > 15 && x != x);
    default:
      return x != threshold;
  }
}

KERNEL {
  const int32_t *const features = (const int32_t *)in[1];
  const uint8_t *const rules = (const uint8_t *)in[2];
  const float *const thresholds = (const float *)in[3];
  const int32_t *const yes = (const int32_t *)in[4];
  const int32_t *const no = (const int32_t *)in[5];
  const int32_t *const targets = (const int32_t *)in[6];
  const float *const weights = (const float *)in[7];
  const int32_t *const roots = (const int32_t *)in[8];
  int32_t row;
  (void)scratch;
  for (row = rows->out_begin; row < rows->out_end; ++row) {
    const float *const x = (const float *)memopt_in_row(rows, in, 0, row);
    float *const sums = (float *)memopt_out_row(rows, out, row);
    int32_t n;
    for (n = 0; n < p->targets; ++n) {
      sums[n] = 0.0f;
    }
    for (n = 0; n < p->trees; ++n) {
      int32_t at = roots[n];
      int32_t leaf;
      while (rules[at] != 15) {
        at = tree_fits(rules[at], x[features[at]], thresholds[at]) ? yes[at] : no[at];
      }
      for (leaf = yes[at]; leaf < no[at]; ++leaf) {
        sums[targets[leaf]] += weights[leaf];
      }
    }
  }
}
