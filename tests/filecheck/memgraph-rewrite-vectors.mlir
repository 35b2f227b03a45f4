// RUN: memopt-opt --rewrite=all %s | filecheck %s
// RUN: memopt-opt --rewrite=all %s | memopt-opt | filecheck %s
// RUN: memopt-opt --rewrite=all --rows=all %s | filecheck %s --check-prefix=ROWS
// RUN: memopt-opt --rewrite=none --rows=all %s | filecheck %s --check-prefix=NONE

// PyTorch's linear layers of tokens that come first, a matrix of them, and patches channels first: all
// of it stands in rows of one token, and what stands first is no matter to rows.
!x = tensor<1x4x4x3xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x3x4x4xf32, #memgraph.encoding<nchw>>
!t = tensor<1x16x3xf32>
!f = tensor<16x1x3xf32>
!m = tensor<16x2xf32>
!y = tensor<1x16x2xf32>
// CHECK-LABEL: @tokens
// CHECK-NOT: memgraph.transpose
// CHECK: %[[T:.*]] = memgraph.reshape %x : (!{{.*}}) -> tensor<1x16x3xf32>
// CHECK-NEXT: %[[N:.*]] = memgraph.layer_normalization %[[T]]
// CHECK-NEXT: %[[S:.*]] = memgraph.sub %b, %[[N]] : (tensor<3xf32>, tensor<1x16x3xf32>) -> tensor<1x16x3xf32>
// CHECK-NEXT: %[[M:.*]] = memgraph.fully_connected %[[S]], %w keep_dims
// CHECK-NEXT: %[[Y:.*]] = memgraph.tanh %[[M]]
// CHECK-NEXT: func.return %[[Y]]
// ROWS: memgraph.row_kernel
// ROWS: memgraph.row_kernel (%{{.*}}: tensor<3xf32>, %{{.*}}: tensor<1x16x3xf32>)
// ROWS-NEXT: memgraph.sub
// ROWS: memgraph.row %{{.*}}[15] (%b,
// ROWS: memgraph.row_kernel
// ROWS-NEXT: memgraph.fully_connected
// ROWS: memgraph.row_kernel
// ROWS-NEXT: memgraph.tanh
// NONE-NOT: memgraph.fully_connected {{.*}} keep_dims
func.func @tokens(%x: !x, %b: tensor<3xf32>, %w: tensor<2x3xf32>) -> !y {
  %1 = memgraph.transpose %x permutation [0, 3, 1, 2] : (!x) -> !c
  %2 = memgraph.reshape %1 : (!c) -> tensor<1x3x16xf32>
  %3 = memgraph.transpose %2 permutation [0, 2, 1] : (tensor<1x3x16xf32>) -> !t
  %4 = memgraph.layer_normalization %3 axis 2 epsilon 1.0e-05 : (!t) -> !t
  %5 = memgraph.transpose %4 permutation [1, 0, 2] : (!t) -> !f
  %6 = memgraph.sub %b, %5 : (tensor<3xf32>, !f) -> !f
  %7 = memgraph.fully_connected %6, %w : (!f, tensor<2x3xf32>) -> !m
  %8 = memgraph.reshape %7 : (!m) -> !y
  %9 = memgraph.tanh %8 : (!y) -> !y
  func.return %9 : !y
}
