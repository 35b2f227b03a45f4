// RUN: memopt-opt --rewrite=choice-as-mask,products-as-attention,mask-as-causal %s | filecheck %s
// RUN: memopt-opt --rewrite=all --model=inplace=on --rows=all --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=ROWS

// Scores of which a constant triangle chooses some are those of an attention that reads no later
// keys: no mask is left. In rows a query is one.

!q = tensor<1x6x4xf32>
!s = tensor<1x6x6xf32>
!b = tensor<1x6x6xi1>

// CHECK-LABEL: @later
// CHECK-NOT: constant
// CHECK: memgraph.attention %{{.*}}, %{{.*}}, %{{.*}} heads 1 scale 5.000000e-01 causal 0 :
// CHECK-NEXT: return
// ROWS-LABEL: @later
// ROWS: memgraph.attention %{{.*}} causal 0 :
// ROWS: memgraph.row %
func.func @later(%x: !q) -> !q {
  %q = memgraph.relu %x : (!q) -> !q
  %c = memgraph.constant dense<5.0e-01> : tensor<f32>
  %b = memgraph.constant dense<[[
    [true, false, false, false, false, false], [true, true, false, false, false, false],
    [true, true, true, false, false, false], [true, true, true, true, false, false],
    [true, true, true, true, true, false], [true, true, true, true, true, true]]]> : !b
  %i = memgraph.constant dense<"0x000080FF"> : tensor<f32>
  %1 = memgraph.batch_matmul %q, %x adj_y : (!q, !q) -> !s
  %2 = memgraph.mul %1, %c : (!s, tensor<f32>) -> !s
  %3 = memgraph.choose %b, %2, %i : (!b, !s, tensor<f32>) -> !s
  %4 = memgraph.softmax %3 axis 2 beta 1.0 : (!s) -> !s
  %5 = memgraph.batch_matmul %4, %x : (!s, !q) -> !q
  func.return %5 : !q
}

// Any other choice is a mask, made before the run if it is known.
// CHECK-LABEL: @some
// CHECK: %[[m:.*]] = memgraph.choose %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x6x6xi1>, tensor<f32>, tensor<f32>)
// CHECK: memgraph.attention %{{.*}}, %{{.*}}, %{{.*}}, %[[m]] heads 1 scale 1.000000e+00 :
func.func @some(%x: !q, %b: !b) -> !q {
  %i = memgraph.constant dense<"0x000080FF"> : tensor<f32>
  %1 = memgraph.batch_matmul %x, %x adj_y : (!q, !q) -> !s
  %2 = memgraph.choose %b, %1, %i : (!b, !s, tensor<f32>) -> !s
  %3 = memgraph.softmax %2 axis 2 beta 1.0 : (!s) -> !s
  %4 = memgraph.batch_matmul %3, %x : (!s, !q) -> !q
  func.return %4 : !q
}

// What is chosen instead is not far below the others: it has a weight.
// CHECK-LABEL: @near
// CHECK: memgraph.softmax
func.func @near(%x: !q, %b: !b) -> !q {
  %i = memgraph.constant dense<-9.0e+03> : tensor<f32>
  %1 = memgraph.batch_matmul %x, %x adj_y : (!q, !q) -> !s
  %2 = memgraph.choose %b, %1, %i : (!b, !s, tensor<f32>) -> !s
  %3 = memgraph.softmax %2 axis 2 beta 1.0 : (!s) -> !s
  %4 = memgraph.batch_matmul %3, %x : (!s, !q) -> !q
  func.return %4 : !q
}
