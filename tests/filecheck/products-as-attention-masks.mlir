// RUN: memopt-opt --rewrite=choice-as-mask,products-as-attention,mask-as-causal %s | filecheck %s
// RUN: memopt-opt --rewrite=all --model=inplace=on --rows=all --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=ROWS

// A bias of each head that is known is the mask of the attention, one row of keys of all heads for
// each query; in rows a query is one.

!x = tensor<1x3x4xf32>
!p = tensor<1x3x2x2xf32>
!h = tensor<1x2x3x2xf32>
!s = tensor<1x2x3x3xf32>
!n = tensor<1x2x1x3xf32>

// CHECK-LABEL: @bias
// CHECK: %[[b:.*]] = memgraph.add %{{.*}}, %{{.*}} : (tensor<1x2x1x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
// CHECK: %[[r:.*]] = memgraph.reshape %[[b]] : (tensor<1x2x3x3xf32>) -> tensor<2x3x3xf32>
// CHECK: %[[t:.*]] = memgraph.transpose %[[r]] permutation [1, 0, 2] : (tensor<2x3x3xf32>) -> tensor<3x2x3xf32>
// CHECK: %[[m:.*]] = memgraph.reshape %[[t]] : (tensor<3x2x3xf32>) -> tensor<1x3x6xf32>
// CHECK: memgraph.attention %{{.*}}, %{{.*}}, %{{.*}}, %[[m]] heads 2 scale 1.000000e+00 :
// CHECK-NOT: softmax
// ROWS-LABEL: @bias
// ROWS: memgraph.attention %
// ROWS: memgraph.row %
func.func @bias(%x: !x) -> !x {
  %b = memgraph.constant dense<[[[[1.0, 2.0, 3.0]], [[-1.0, -2.0, -3.0]]]]> : !n
  %c = memgraph.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %i = memgraph.constant dense<"0x000080FF"> : tensor<f32>
  %q = memgraph.relu %x : (!x) -> !x
  %1 = memgraph.reshape %q : (!x) -> !p
  %2 = memgraph.transpose %1 permutation [0, 2, 1, 3] : (!p) -> !h
  %3 = memgraph.batch_matmul %2, %2 adj_y : (!h, !h) -> !s
  %4 = memgraph.add %3, %b : (!s, !n) -> !s
  %5 = memgraph.choose %c, %4, %i : (tensor<3x3xi1>, !s, tensor<f32>) -> !s
  %6 = memgraph.softmax %5 axis 3 beta 1.0 : (!s) -> !s
  %7 = memgraph.batch_matmul %6, %2 : (!s, !h) -> !h
  %8 = memgraph.transpose %7 permutation [0, 2, 1, 3] : (!h) -> !p
  %9 = memgraph.reshape %8 : (!p) -> !x
  func.return %9 : !x
}
