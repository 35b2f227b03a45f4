/* CONV_3D, float32: [image][depth][height][width][channel]. */
#include "memopt_common.h"

typedef struct {
  int32_t images;
  int32_t in_d, in_h, in_w, in_c;
  int32_t out_d, out_h, out_w, out_c;
  int32_t k_d, k_h, k_w;
  int32_t stride_d, stride_h, stride_w;
  int32_t dilation_d, dilation_h, dilation_w;
  int32_t pad_d, pad_h, pad_w;
  float act_min, act_max;
  const float *weights; /* [k_d][k_h][k_w][in_c][out_c] */
  const float *bias;    /* [out_c] */
} memopt_conv_3d_f32_params;

/* All filters at one place of an image. */
static void conv_3d_place(const memopt_conv_3d_f32_params *p, const float *image, int32_t d,
                          int32_t h, int32_t w, float *output) {
  const int32_t from_d = d * p->stride_d - p->pad_d;
  const int32_t from_h = h * p->stride_h - p->pad_h;
  const int32_t from_w = w * p->stride_w - p->pad_w;
  int32_t begin_d, end_d, begin_h, end_h, begin_w, end_w, i, j, k, c, o;
  memopt_valid_taps(from_d, p->in_d, p->k_d, p->dilation_d, &begin_d, &end_d);
  memopt_valid_taps(from_h, p->in_h, p->k_h, p->dilation_h, &begin_h, &end_h);
  memopt_valid_taps(from_w, p->in_w, p->k_w, p->dilation_w, &begin_w, &end_w);
  for (o = 0; o < p->out_c; ++o) {
    output[o] = 0.0f;
  }
  for (i = begin_d; i < end_d; ++i) {
    for (j = begin_h; j < end_h; ++j) {
      for (k = begin_w; k < end_w; ++k) {
        const int32_t row = (from_d + i * p->dilation_d) * p->in_h + from_h + j * p->dilation_h;
        const float *x = image + (row * p->in_w + from_w + k * p->dilation_w) * p->in_c;
        const float *weights =
            p->weights + ((i * p->k_h + j) * p->k_w + k) * p->in_c * p->out_c;
        for (c = 0; c < p->in_c; ++c) {
          for (o = 0; o < p->out_c; ++o) {
            output[o] += x[c] * weights[c * p->out_c + o];
          }
        }
      }
    }
  }
  for (o = 0; o < p->out_c; ++o) {
    output[o] = memopt_clamp_f32(output[o] + p->bias[o], p->act_min, p->act_max);
  }
}

MEMOPT_FAST
KERNEL {
  const float *image = (const float *)in[0];
  float *output = (float *)out;
  int32_t n, d, h, w;
  (void)rows;
  (void)scratch;
  for (n = 0; n < p->images; ++n) {
    for (d = 0; d < p->out_d; ++d) {
      for (h = 0; h < p->out_h; ++h) {
        for (w = 0; w < p->out_w; ++w) {
          conv_3d_place(p, image, d, h, w, output);
          output += p->out_c;
        }
      }
    }
    image += p->in_d * p->in_h * p->in_w * p->in_c;
  }
}
