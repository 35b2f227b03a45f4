/* What toyflow's calls compute, by MLIR's interface for C. */
#include <stdint.h>
#include <string.h>

typedef struct {
  void *allocated;
  int8_t *at;
  int64_t offset, size, stride;
} bytes;

/* Sums over five neighbours, which go through the workspace, scaled to a size. */
void _mlir_ciface_toy_conv(bytes *in, bytes *out, bytes *workspace);
void _mlir_ciface_toy_conv(bytes *in, bytes *out, bytes *workspace) {
  for (int64_t i = 0; i < out->size; ++i) {
    for (int64_t k = 0; k < workspace->size; ++k) {
      workspace->at[k] = k < 5 ? in->at[(i + k) % in->size] : 0;
    }
    int8_t sum = 0;
    for (int64_t k = 0; k < workspace->size; ++k) {
      sum = (int8_t)(sum + workspace->at[k]);
    }
    out->at[i] = sum;
  }
}

void _mlir_ciface_toy_relu(bytes *in, bytes *out);
void _mlir_ciface_toy_relu(bytes *in, bytes *out) {
  for (int64_t i = 0; i < out->size; ++i) {
    out->at[i] = in->at[i] < 0 ? 0 : in->at[i];
  }
}

void _mlir_ciface_toy_split(bytes *in, bytes *even, bytes *odd);
void _mlir_ciface_toy_split(bytes *in, bytes *even, bytes *odd) {
  for (int64_t i = 0; i < in->size; ++i) {
    (i % 2 ? odd : even)->at[i / 2] = in->at[i];
  }
}

/* Running sums, kept in the workspace. */
void _mlir_ciface_toy_dsp(bytes *in, bytes *out, bytes *workspace);
void _mlir_ciface_toy_dsp(bytes *in, bytes *out, bytes *workspace) {
  memset(workspace->at, 0, (size_t)workspace->size);
  for (int64_t i = 0; i < out->size; ++i) {
    int8_t *kept = &workspace->at[i % workspace->size];
    *kept = (int8_t)(*kept + in->at[i % in->size]);
    out->at[i] = *kept;
  }
}
