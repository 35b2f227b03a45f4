// Functions of tosa are planned as any release of mlir-opt prints them: xDSL's operations, those that it does not have,
// and those that have other operands or attributes there (`mul` and `clamp` of MLIR 19).
// RUN: memopt-opt --split-input-file --model=inplace=on --schedule=auto --place=auto --verify-plan %s | filecheck %s

// A constant is no RAM, a reshape is a view, and element-wise results lie in place.
// CHECK-LABEL: @mlir_19
// CHECK-SAME: peak = 352, lower_bound = 352
// CHECK: "tosa.conv2d"(%x, %w, %b) {{.*}}memgraph.order = 0 : i64, memgraph.offset = {{\[}}[[C:[0-9]+]] : i64]
// CHECK: "tosa.clamp"({{.*}}max_int = 6 : i64{{.*}}memgraph.offset = {{\[}}[[C]] : i64]
// CHECK: "tosa.mul"({{.*}}shift = 0 : i8, {{.*}}memgraph.offset = {{\[}}[[C]] : i64]
// CHECK: "tosa.reshape"({{.*}}, memgraph.offset = {{\[}}[[C]] : i64]
// CHECK: "tosa.const"() <{value = dense<1.000000e+00> : tensor<1x64xf32>}> {memgraph.offset = [#memgraph.unplaced<constant>]}
// CHECK: tosa.add {{.*}}memgraph.offset = {{\[}}[[C]] : i64]
func.func @mlir_19(%x: tensor<1x4x4x1xf32>, %w: tensor<4x1x1x1xf32>, %b: tensor<4xf32>) -> tensor<1x64xf32> {
  %0 = tosa.conv2d %x, %w, %b {dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<4x1x1x1xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %1 = tosa.clamp %0 {max_fp = 6.000000e+00 : f32, max_int = 6 : i64, min_fp = 0.000000e+00 : f32, min_int = 0 : i64} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %2 = tosa.mul %1, %1 {shift = 0 : i8} : (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %3 = tosa.reshape %2 {new_shape = array<i64: 1, 64>} : (tensor<1x4x4x4xf32>) -> tensor<1x64xf32>
  %4 = "tosa.const"() <{value = dense<1.0> : tensor<1x64xf32>}> : () -> tensor<1x64xf32>
  %5 = tosa.add %3, %4 : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  return %5 : tensor<1x64xf32>
}
// -----
// Releases that hand shapes over as operands: a slice of one piece and a transposition that moves nothing cost nothing;
// what `scatter` does not change stays where it is.
// CHECK-LABEL: @shapes_as_operands
// CHECK: tosa.sin %x {memgraph.alias = {{.*}}memgraph.offset = {{\[}}[[S:[0-9]+]] : i64]
// CHECK: "tosa.slice"({{.*}} {memgraph.offset
// CHECK: "tosa.transpose"({{.*}} {memgraph.offset
// CHECK: "tosa.scatter"(%{{.*}}, %i, %u) {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>
func.func @shapes_as_operands(%x: tensor<1x8x4xf32>, %i: tensor<1x2xi32>, %u: tensor<1x2x4xf32>) -> (tensor<1x4x4xf32>, tensor<4x1x4xf32>) {
  %0 = tosa.sin %x : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %s = "tosa.const_shape"() <{values = dense<[0, 4, 0]> : tensor<3xindex>}> : () -> !tosa.shape<3>
  %n = "tosa.const_shape"() <{values = dense<[1, 4, 4]> : tensor<3xindex>}> : () -> !tosa.shape<3>
  %1 = "tosa.slice"(%0, %s, %n) : (tensor<1x8x4xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x4x4xf32>
  %p = "tosa.const"() <{values = dense<[1, 0, 2]> : tensor<3xi32>}> : () -> tensor<3xi32>
  %2 = "tosa.transpose"(%1, %p) : (tensor<1x4x4xf32>, tensor<3xi32>) -> tensor<4x1x4xf32>
  %3 = tosa.cos %2 : (tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
  %4 = tosa.cos %1 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %5 = "tosa.scatter"(%4, %i, %u) : (tensor<1x4x4xf32>, tensor<1x2xi32>, tensor<1x2x4xf32>) -> tensor<1x4x4xf32>
  return %5, %3 : tensor<1x4x4xf32>, tensor<4x1x4xf32>
}
// -----
// Operations move, but what has a state keeps its order.
// CHECK-LABEL: @moves
// CHECK: "tosa.tile"
// CHECK-NEXT: tosa.reduce_sum
// CHECK-NEXT: "tosa.tile"
// CHECK-NEXT: tosa.reduce_sum
// CHECK-NEXT: "tosa.variable.write"(%x) {name = @a
// CHECK-NEXT: "tosa.custom"(%x)
// CHECK-NEXT: "tosa.variable.read"() {name = @a
func.func @moves(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) {
  %0 = "tosa.tile"(%x) {multiples = array<i64: 64>} : (tensor<4xf32>) -> tensor<256xf32>
  %1 = "tosa.tile"(%x) {multiples = array<i64: 64>} : (tensor<4xf32>) -> tensor<256xf32>
  "tosa.variable.write"(%x) {name = @a} : (tensor<4xf32>) -> ()
  %2 = "tosa.custom"(%x) {domain_name = "d", operator_name = "o"} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "tosa.variable.read"() {name = @a} : () -> tensor<4xf32>
  %4 = tosa.reduce_sum %0 {axis = 0 : i32} : (tensor<256xf32>) -> tensor<1xf32>
  %5 = tosa.reduce_sum %1 {axis = 0 : i32} : (tensor<256xf32>) -> tensor<1xf32>
  return %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>
}
// -----
// A look-up reads any element of its table for each element that it writes, so it does not write there.
// CHECK-LABEL: @table
// CHECK: "tosa.table"(%x, %t) {memgraph.order
func.func @table(%x: tensor<256xi8>, %y: tensor<256xi8>) -> tensor<256xi8> {
  %t = "tosa.bitwise_not"(%y) : (tensor<256xi8>) -> tensor<256xi8>
  %r = "tosa.table"(%x, %t) : (tensor<256xi8>, tensor<256xi8>) -> tensor<256xi8>
  %s = "tosa.bitwise_xor"(%r, %x) : (tensor<256xi8>, tensor<256xi8>) -> tensor<256xi8>
  func.return %s : tensor<256xi8>
}
