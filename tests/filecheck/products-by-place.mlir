// RUN: memopt-opt --rewrite=products-by-place %s | filecheck %s
// RUN: memopt-opt --rewrite=all --model=inplace=on --rows=all --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=ROWS

// Keys times values of two heads are added up place by place, and each query is multiplied with
// the sum: keys, values and queries are rows, and no more of them than one is there at a time.

!x = tensor<1x6x4xf32>
!h = tensor<1x6x2x2xf32>
!q = tensor<1x2x6x2xf32>
!k = tensor<1x2x2x6xf32>
!m = tensor<1x2x2x2xf32>
!w = tensor<4x4xf32>

// CHECK: %[[m:.*]] = memgraph.outer_products %{{.*}}, %{{.*}} groups 2 : (tensor<1x6x4xf32>, tensor<1x6x4xf32>) -> tensor<4x2xf32>
// CHECK: %[[n:.*]] = memgraph.reshape %[[m]] : (tensor<4x2xf32>) -> tensor<1x2x2x2xf32>
// CHECK: %[[q:.*]] = memgraph.reshape %{{.*}} : (tensor<1x6x4xf32>) -> tensor<1x6x2x1x2xf32>
// CHECK: %[[r:.*]] = memgraph.reshape %[[n]] : (tensor<1x2x2x2xf32>) -> tensor<2x2x2xf32>
// CHECK: memgraph.batch_matmul %[[q]], %[[r]] : (tensor<1x6x2x1x2xf32>, tensor<2x2x2xf32>) -> tensor<1x6x2x1x2xf32>
// CHECK-NOT: memgraph.transpose
// ROWS: memgraph.outer_products %
// ROWS: %[[first:.*]] = memgraph.row %[[sum:.*]][0] (%{{.*}}, %{{.*}}) {{.*}} : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<4x2xf32>
// ROWS: memgraph.row %[[sum]][1] (%{{.*}}, %{{.*}}, %[[first]]) {{.*}} : (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
// ROWS: memgraph.batch_matmul %
// ROWS: memgraph.row %{{.*}}[5] (%{{.*}}, %{{.*}}) {{.*}} : (tensor<1x1x2x1x2xf32>, tensor<2x2x2xf32>) -> tensor<1x1x2x1x2xf32>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<[[1.0, 2.0, 0.5, 0.0], [0.5, -1.0, 2.0, 1.0], [1.0, 0.0, -2.0, 1.5], [0.5, 0.5, 1.0, -1.0]]> : !w
  %v = memgraph.constant dense<[[-1.0, 2.0, 0.5, 0.0], [0.5, 1.0, 2.0, 1.0], [1.0, 0.5, -2.0, 1.5], [0.5, 0.5, 3.0, -1.0]]> : !w
  %q = memgraph.relu %x : (!x) -> !x
  %1 = memgraph.fully_connected %q, %w keep_dims : (!x, !w) -> !x
  %2 = memgraph.fully_connected %q, %v keep_dims : (!x, !w) -> !x
  %3 = memgraph.reshape %1 : (!x) -> !h
  %4 = memgraph.transpose %3 permutation [0, 2, 3, 1] : (!h) -> !k
  %5 = memgraph.reshape %2 : (!x) -> !h
  %6 = memgraph.transpose %5 permutation [0, 2, 1, 3] : (!h) -> !q
  %7 = memgraph.batch_matmul %4, %6 : (!k, !q) -> !m
  %8 = memgraph.reshape %q : (!x) -> !h
  %9 = memgraph.transpose %8 permutation [0, 2, 1, 3] : (!h) -> !q
  %10 = memgraph.batch_matmul %9, %7 : (!q, !m) -> !q
  %11 = memgraph.transpose %10 permutation [0, 2, 1, 3] : (!q) -> !h
  %12 = memgraph.reshape %11 : (!h) -> !x
  func.return %12 : !x
}
