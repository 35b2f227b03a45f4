// Functions of onnx-mlir's onnx, which xDSL does not have, are planned as `onnx-mlir --EmitONNXIR` prints them.
// RUN: memopt-opt --split-input-file --schedule=auto --place=auto --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --model=inplace=on --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=INPLACE

// A constant and what is left out are no RAM, and a reshape is a view.
// CHECK-LABEL: @main_graph
// CHECK-SAME: peak = 256, lower_bound = 256
// CHECK: "onnx.Constant"() <{value = dense<1.000000e+00> : tensor<8x4x1x1xf32>}> {memgraph.offset = [#memgraph.unplaced<constant>]}
// CHECK: "onnx.NoValue"() {value, memgraph.offset = [#memgraph.unplaced<runtime>]}
// CHECK: "onnx.Conv"({{.*}}memgraph.order = 0 : i64, memgraph.offset = {{\[}}[[C:[0-9]+]] : i64]
// CHECK: "onnx.Reshape"({{.*}}, memgraph.offset = {{\[}}[[C]] : i64]
// CHECK: "onnx.Transpose"({{.*}}memgraph.offset = {{\[}}[[C]] : i64]
// CHECK: "onnx.Relu"({{.*}}memgraph.order = 1 : i64
// CHECK: "onnx.Return"
// CHECK: "onnx.EntryPoint"
// INPLACE-LABEL: @main_graph
// INPLACE: "onnx.Conv"({{.*}}memgraph.offset = {{\[}}[[C:[0-9]+]] : i64]
// INPLACE: "onnx.Relu"({{.*}}memgraph.offset = {{\[}}[[C]] : i64]
module {
  func.func @main_graph(%arg0: tensor<1x4x2x2xf32>) -> tensor<32x1xf32> {
    %0 = onnx.Constant dense<1.0> : tensor<8x4x1x1xf32>
    %1 = onnx.Constant dense<[1, 32]> : tensor<2xi64>
    %2 = "onnx.NoValue"() {value} : () -> none
    %3 = "onnx.Conv"(%arg0, %0, %2) {auto_pad = "NOTSET", group = 1 : si64, strides = [2, 2]} : (tensor<1x4x2x2xf32>, tensor<8x4x1x1xf32>, none) -> tensor<1x8x2x2xf32>
    %4 = "onnx.Reshape"(%3, %1) {allowzero = 0 : si64} : (tensor<1x8x2x2xf32>, tensor<2xi64>) -> tensor<1x32xf32>
    %5 = "onnx.Transpose"(%4) {perm = [1, 0]} : (tensor<1x32xf32>) -> tensor<32x1xf32>
    %6 = "onnx.Relu"(%5) : (tensor<32x1xf32>) -> tensor<32x1xf32>
    onnx.Return %6 : tensor<32x1xf32>
  }
  "onnx.EntryPoint"() {func = @main_graph} : () -> ()
}
// -----
// A slice whose start is a constant, and a split, lie in their operand; operands lie in a concatenation; what updates a
// tensor lies where that lies.
// CHECK-LABEL: @pieces
// CHECK: "onnx.Exp"(%x) {memgraph.order = 0 : i64, memgraph.offset = {{\[}}[[E:[0-9]+]] : i64]}
// CHECK: "onnx.Split"({{.*}}axis = 1 : si64, memgraph.offset = {{\[}}[[E]] : i64, {{[0-9]+}} : i64]
// CHECK: "onnx.Slice"({{.*}} {memgraph.offset = [24 : i64]}
// CHECK: "onnx.Concat"({{.*}}axis = -1 : si64, memgraph.offset
// CHECK: "onnx.ScatterND"({{.*}}memgraph.order
// INPLACE-LABEL: @pieces
// INPLACE: "onnx.Concat"({{.*}}memgraph.offset = {{\[}}[[C:[0-9]+]] : i64]
// INPLACE: "onnx.ScatterND"({{.*}}memgraph.offset = {{\[}}[[C]] : i64]
func.func @pieces(%x: tensor<1x8xf32>, %i: tensor<1x2xi64>, %u: tensor<1xf32>) -> tensor<1x6xf32> {
  %n = "onnx.NoValue"() {value} : () -> none
  %0 = "onnx.Exp"(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1:2 = "onnx.Split"(%0, %n) {axis = 1 : si64} : (tensor<1x8xf32>, none) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  %b = onnx.Constant dense<-2> : tensor<1xi64>
  %e = onnx.Constant dense<8> : tensor<1xi64>
  %a = onnx.Constant dense<1> : tensor<1xi64>
  %2 = "onnx.Slice"(%0, %b, %e, %a, %n) : (tensor<1x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, none) -> tensor<1x2xf32>
  %3 = "onnx.Neg"(%1#0) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %4 = "onnx.Neg"(%2) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %5 = "onnx.Concat"(%3, %4) {axis = -1 : si64} : (tensor<1x4xf32>, tensor<1x2xf32>) -> tensor<1x6xf32>
  %6 = "onnx.ScatterND"(%5, %i, %u) : (tensor<1x6xf32>, tensor<1x2xi64>, tensor<1xf32>) -> tensor<1x6xf32>
  func.return %6 : tensor<1x6xf32>
}
// -----
// Operators move, but those that draw numbers keep their order.
// CHECK-LABEL: @moves
// CHECK: "onnx.RandomNormalLike"(%x) {seed = 1.000000e+00 : f32, memgraph.order = 0
// CHECK-NEXT: "onnx.RandomNormalLike"(%x) {seed = 2.000000e+00 : f32, memgraph.order = 1
// CHECK: "onnx.Tile"
// CHECK-NEXT: "onnx.ReduceMean"
// CHECK: "onnx.Tile"
// CHECK-NEXT: "onnx.ReduceMean"
func.func @moves(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %r = onnx.Constant dense<[64, 1]> : tensor<2xi64>
  %0 = "onnx.RandomNormalLike"(%x) {seed = 1.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = "onnx.RandomNormalLike"(%x) {seed = 2.0 : f32} : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = "onnx.Tile"(%0, %r) : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<64x4xf32>
  %3 = "onnx.Tile"(%1, %r) : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<64x4xf32>
  %4 = "onnx.ReduceMean"(%2, %r) : (tensor<64x4xf32>, tensor<2xi64>) -> tensor<1x4xf32>
  %5 = "onnx.ReduceMean"(%3, %r) : (tensor<64x4xf32>, tensor<2xi64>) -> tensor<1x4xf32>
  func.return %0, %1, %4, %5 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
