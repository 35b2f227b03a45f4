// RUN: memopt-opt --split-input-file -p memgraph-schedule,memgraph-place,memgraph-to-memref %s | filecheck %s

// Inputs go into the arena, constants into globals; a reshape is the same bytes.
// CHECK: "memref.global"() {{.*}}sym_name = "bias_constant_0", type = memref<2x4xf32>
// CHECK: func.func @bias(%0: memref<128xi8>, %1: memref<2x4xf32>, %2: memref<4x4xf32>, %3: memref<8xf32>) {
// CHECK-NEXT: arith.constant 96 : index
// CHECK-NEXT: [[X:%[0-9]+]] = memref.view %0
// CHECK-NEXT: "memref.copy"(%1, [[X]])
// CHECK: "memref.copy"(%2, [[W:%[0-9]+]])
// CHECK: %zero = arith.constant 0.000000e+00 : f32
// CHECK: arith.constant 64 : index
// CHECK-NEXT: [[M:%[0-9]+]] = memref.view %0
// CHECK-NEXT: linalg.fill ins(%zero : f32) outs([[M]] : memref<2x4xf32>)
// CHECK-NEXT: linalg.matmul ins([[X]], [[W]] : memref<2x4xf32>, memref<4x4xf32>) outs([[M]] : memref<2x4xf32>)
// CHECK-NEXT: [[B:%[0-9]+]] = memref.get_global @bias_constant_0
// CHECK: linalg.add ins([[M]], [[B]] : memref<2x4xf32>, memref<2x4xf32>) outs([[A:%[0-9]+]] : memref<2x4xf32>)
// CHECK: [[R:%[0-9]+]] = memref.view %0{{.*}} to memref<8xf32>
// CHECK-NEXT: "memref.copy"([[R]], %3)
// CHECK-NEXT: func.return
func.func @bias(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %bias = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = tensor.empty() : tensor<2x4xf32>
  %a = linalg.add ins(%m, %bias : tensor<2x4xf32>, tensor<2x4xf32>) outs(%g : tensor<2x4xf32>) -> tensor<2x4xf32>
  %r = tensor.collapse_shape %a [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  func.return %r : tensor<8xf32>
}

