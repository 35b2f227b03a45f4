// Functions of linalg are planned as mlir-opt prints them in generic form, too: operations that xDSL does not have.
// RUN: memopt-opt --split-input-file --schedule=auto --place=auto --verify-plan %s | filecheck %s

// A result lies where its init lies, `tensor.empty` and constants are no buffers, a collapsed shape is a view.
// CHECK-LABEL: @destination
// CHECK-SAME: peak = 64, lower_bound = 64
// CHECK: linalg.fill {memgraph.order = 0 : i64, memgraph.offset = {{\[}}[[F:[0-9]+]] : i64]}
// CHECK: "linalg.batch_matvec"({{.*}} <{operandSegmentSizes = array<i32: 2, 1>}>
// CHECK: }) {{.*}}memgraph.order = 1 : i64, memgraph.offset = {{\[}}[[F]] : i64]}
// CHECK: tensor.collapse_shape
// CHECK: "linalg.tanh"
// CHECK: }) {{.*}}memgraph.order = 2 : i64, memgraph.offset = [{{[0-9]+}} : i64]}
func.func @destination(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %c = arith.constant 0.0 : f32
  %w = arith.constant dense<1.0> : tensor<2x4x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.fill ins(%c : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = "linalg.batch_matvec"(%w, %x, %0) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %s, %m : f32
    linalg.yield %n : f32
  }) {linalg.memoized_indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]} : (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "tensor.collapse_shape"(%1) <{reassociation = [[0, 1]]}> : (tensor<2x4xf32>) -> tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %3 = "linalg.tanh"(%2, %f) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    %m = math.tanh %a : f32
    linalg.yield %m : f32
  }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}
// -----
// An init that is an argument is overwritten, so all other readers come before.
// CHECK-LABEL: @argument
// CHECK-SAME: %y: tensor<8xf32> {memgraph.offset = [[Y:[0-9]+]] : i64}
// CHECK: linalg.add {{.*}}memgraph.order = 0 : i64
// CHECK: "linalg.tanh"
// CHECK: }) {{.*}}memgraph.order = 1 : i64, memgraph.offset = {{\[}}[[Y]] : i64]}
func.func @argument(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = "linalg.tanh"(%x, %y) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    %m = math.tanh %a : f32
    linalg.yield %m : f32
  }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %1 = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
