// A virtual tensor has no buffer for anybody, and is made of just its operands.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source %s

// expected-error@unknown {{c is returned, so it is a buffer}}
func.func @returned(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<8xi8> {
  %c = memgraph.concat %a, %b axis 0 {memgraph.names = ["c"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>, #memgraph.alias<operand = 1, kind = virtual>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  func.return %c : tensor<8xi8>
}
// -----
// expected-error@unknown {{memgraph.alias: result 0 is virtual in all operands or in none}}
func.func @one_of_two(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<8xi8> {
  %c = memgraph.concat %a, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  %d = memgraph.relu %c : (tensor<8xi8>) -> tensor<8xi8>
  func.return %d : tensor<8xi8>
}
// -----
// expected-error@unknown {{memgraph.alias: operands of 8 B are not the 9 B of the result}}
func.func @more(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<9xi8> {
  %c = memgraph.opaque "Join"(%a, %b) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>, #memgraph.alias<operand = 1, kind = virtual>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<9xi8>
  %d = memgraph.relu %c : (tensor<9xi8>) -> tensor<9xi8>
  func.return %d : tensor<9xi8>
}
// -----
// expected-error@unknown {{memgraph.alias: memgraph.add makes more than its operands are}}
func.func @computes(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<4xi8> {
  %c = memgraph.add %a, %b {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>, #memgraph.alias<operand = 1, kind = virtual>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %d = memgraph.relu %c : (tensor<4xi8>) -> tensor<4xi8>
  func.return %d : tensor<4xi8>
}
// -----
// expected-error@unknown {{aliases c, no buffer}}
func.func @shown(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<8x1xi8> {
  %c = memgraph.concat %a, %b axis 0 {memgraph.names = ["c"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>, #memgraph.alias<operand = 1, kind = virtual>]]} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>
  %d = memgraph.reshape %c : (tensor<8xi8>) -> tensor<8x1xi8>
  %e = memgraph.relu %d : (tensor<8x1xi8>) -> tensor<8x1xi8>
  func.return %e : tensor<8x1xi8>
}
// -----
// expected-error@unknown {{s is returned, so it is a buffer}}
!x = tensor<1x1x2x2xi8, #memgraph.encoding<nhwc>>
!c = tensor<1x1x2x1xi8, #memgraph.encoding<nhwc>>
func.func @returned(%x: !x) -> !c {
  %s = memgraph.slice %x starts [0, 0, 0, 1] strides [1, 1, 1, 1] {memgraph.names = ["s"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!x) -> !c
  func.return %s : !c
}
// -----
// expected-error@unknown {{r aliases s, no buffer}}
!x = tensor<1x1x2x2xi8, #memgraph.encoding<nhwc>>
!c = tensor<1x1x2x1xi8, #memgraph.encoding<nhwc>>
func.func @shown(%x: !x) -> tensor<2xi8> {
  %s = memgraph.slice %x starts [0, 0, 0, 1] strides [1, 1, 1, 1] {memgraph.names = ["s"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!x) -> !c
  %r = memgraph.reshape %s : (!c) -> tensor<2xi8>
  %t = memgraph.relu %r : (tensor<2xi8>) -> tensor<2xi8>
  func.return %t : tensor<2xi8>
}
// -----
// expected-error@unknown {{memgraph.alias: 9 B are no part of 4 B}}
func.func @less(%a: tensor<9xi8>) -> tensor<4xi8> {
  %c = memgraph.opaque "Cut"(%a) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (tensor<9xi8>) -> tensor<4xi8>
  %d = memgraph.relu %c : (tensor<4xi8>) -> tensor<4xi8>
  func.return %d : tensor<4xi8>
}
// -----
// Sums that two read: who makes them?
// expected-error@unknown {{memgraph.alias: memgraph.conv_2d makes more than its operands are}}
func.func @twice(%x: tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>) -> tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>> {
  %w = memgraph.constant dense<1.0> : tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
  %c = memgraph.conv_2d %x, %w window<[1, 1]> groups 1 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>, tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>) -> tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
  %s = memgraph.add %c, %c : (tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>, tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>) -> tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
  func.return %s : tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
}
// -----
// Kernels of TensorFlow Lite Micro that work in scratch.
// expected-error@unknown {{it works in scratch, so no reader can make it}}
func.func @scratch(%x: tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>) -> tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>> attributes {memgraph.model = #memgraph.model<scratch = cmsis-nn>} {
  %w = memgraph.constant dense<1> : tensor<2x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e+00], zero_point = [0]>>
  %c = memgraph.conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 rounding<tflm_double> {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>, tensor<2x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e+00], zero_point = [0]>>) -> tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
  %s = memgraph.add %c, %x rounding<tflm_double> : (tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>, tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>) -> tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
  func.return %s : tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [0]>>
}
// -----
// A row that adds up all there is, though it is one: no reader can make it.
// expected-error@unknown {{memgraph.alias: rows of memgraph.fully_connected are no rows of its operands}}
func.func @sum(%x: tensor<1x1x2xf32>, %z: tensor<1x1x3xf32>) -> tensor<1x1x3xf32> {
  %f = memgraph.row_kernel (%a: tensor<1x1x2xf32>) {
    %w = memgraph.constant dense<1.0> : tensor<3x2xf32>
    %r = memgraph.fully_connected %a, %w keep_dims : (tensor<1x1x2xf32>, tensor<3x2xf32>) -> tensor<1x1x3xf32>
    memgraph.yield %r : tensor<1x1x3xf32>
  }
  %g = memgraph.row_kernel (%a: tensor<1x1x3xf32>, %b: tensor<1x1x3xf32>) {
    %r = memgraph.add %a, %b : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
    memgraph.yield %r : tensor<1x1x3xf32>
  }
  %x0 = memgraph.split_rows %x : tensor<1x1x2xf32>
  %z0 = memgraph.split_rows %z : tensor<1x1x3xf32>
  %f0 = memgraph.row %f[0] (%x0) {memgraph.alias = [[#memgraph.alias<operand = 1, kind = virtual>]]} : (tensor<1x1x2xf32>) -> tensor<1x1x3xf32>
  %g0 = memgraph.row %g[0] (%f0, %z0) : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %y = memgraph.join %g0 : tensor<1x1x3xf32>
  func.return %y : tensor<1x1x3xf32>
}
