// RUN: memopt-opt -p "memgraph-model{io=caller},memgraph-schedule,memgraph-place,memgraph-to-memref" %s | filecheck %s

// What is the caller's is used where it is.
// CHECK: func.func @sums(%0: memref<32xi8>, %1: memref<2x4xf32>, %2: memref<2x4xf32>, %3: memref<2x4xf32>) {
// CHECK: [[S:%[0-9]+]] = memref.view %0
// CHECK-NEXT: linalg.add ins(%1, %2 : memref<2x4xf32>, memref<2x4xf32>) outs([[S]] : memref<2x4xf32>)
// CHECK-NEXT: linalg.add ins([[S]], %1 : memref<2x4xf32>, memref<2x4xf32>) outs(%3 : memref<2x4xf32>)
// CHECK-NEXT: func.return
func.func @sums(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %s = linalg.add ins(%x, %y : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = tensor.empty() : tensor<2x4xf32>
  %r = linalg.add ins(%s, %x : tensor<2x4xf32>, tensor<2x4xf32>) outs(%d : tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}
