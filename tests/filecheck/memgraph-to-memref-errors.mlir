// RUN: not memopt-opt --split-input-file -p "memgraph-schedule,memgraph-memory{banks=a:64,b:1024},memgraph-to-memref" %s 2>&1 | filecheck %s --check-prefix=BANKS
// RUN: not memopt-opt --split-input-file -p memgraph-to-memref %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not memopt-opt --split-input-file -p memgraph-schedule,memgraph-place,memgraph-to-memref %s 2>&1 | filecheck %s
// CHECK: error: memgraph-to-memref: tosa.sin is no destination-passing operation
func.func @theirs(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----
// BANKS: @product: error: memgraph-to-memref: the plan is of several memories
// NONE: @product: error: the function has no plan
func.func @product(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %m : tensor<2x4xf32>
}
