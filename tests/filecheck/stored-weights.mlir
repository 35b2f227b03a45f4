// A recurrent layer whose weights are dequantized keeps them as they are stored; its rows are as they were.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-rewrite{rules=stored-weights},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -p "memgraph-verify-plan{placed=true}" %t.mlir | filecheck %s
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C

// CHECK: family = rows
// CHECK-NOT: memgraph.dequantize
// CHECK: memgraph.row %h[1] (%x_2, %h_1)
// C: static const int8_t op0_sizes_weights[4] = {
// C-NEXT: 1, -2, -3, 4,
// C: static const int8_t op0_sizes_recurrent[4] = {
// C-NEXT: 127, 1, 2, -128,
// C: op0_sizes_of_weights_scales[2] = {
// C-NEXT: 0.5f, 2.0f,
// C: op0_sizes_of_weights_zeros[2] = {
// C-NEXT: -3, 0,
// C: .zeros = 0,
// C: {memopt_rnn_layer_hybrid, &op0_params
!x = tensor<1x4x2xf32>
!w = tensor<1x2x2xi8, #memgraph.encoding<scale = [5.0e-01, 2.0e+00], zero_point = [3, 0], axis = 1>>
!r = tensor<1x2x2xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [128]>>
!g = tensor<1x2x2xf32>
!f = tensor<2x2xf32>
func.func @main(%x: !x) -> tensor<1x1x2xf32> {
  %w = memgraph.constant dense<[[[1, -2], [-3, 4]]]> : !w
  %r = memgraph.constant dense<[[[255, 129], [130, 0]]]> : !r
  %b = memgraph.constant dense<0.0> : tensor<2xf32>
  %1 = memgraph.dequantize %w : (!w) -> !g
  %2 = memgraph.reshape %1 : (!g) -> !f
  %3 = memgraph.dequantize %r : (!r) -> !g
  %4 = memgraph.reshape %3 : (!g) -> !f
  %h = memgraph.rnn_layer %x, %2, %4, %b activation<tanh> {memgraph.names = ["h"]} : (!x, !f, !f, tensor<2xf32>) -> !x
  %z = memgraph.slice %h starts [0, 3, 0] strides [1, 1, 1] : (!x) -> tensor<1x1x2xf32>
  func.return %z : tensor<1x1x2xf32>
}
