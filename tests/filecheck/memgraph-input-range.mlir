// RUN: memopt-opt --input-range=x=-1:1.5e-1 %s | filecheck %s --check-prefix=RANGE
// RUN: memopt-opt --input-range=x=-1:1 --rewrite=safe %s | filecheck %s
// RUN: memopt-opt --rewrite=safe %s | filecheck %s --check-prefix=NONE

// What is written is read again, in either form, and said twice.
// RUN: memopt-opt --input-range=x=-1:1 --rewrite=safe %s -o %t.once.mlir
// RUN: memopt-opt --print-op-generic %t.once.mlir | memopt-opt --input-range=x=-1:1 -o %t.generic.mlir
// RUN: cmp %t.once.mlir %t.generic.mlir
// RUN: memopt-opt -p "memgraph-input-range{of=\"x=-1:1\"},memgraph-rewrite{rules=safe},memgraph-verify-channels" %s -o %t.passes.mlir
// RUN: cmp %t.once.mlir %t.passes.mlir

// The C says so too.
// RUN: memopt-opt --schedule=auto --place=auto -t c %t.once.mlir | filecheck %s --check-prefix=C
// C: #define {{[A-Z_]*}}INPUT_0_LEAST (-1.0f) /* promised: the code counts on it */
// C: #define {{[A-Z_]*}}INPUT_0_MOST (1.0f)

// RANGE: func.func @main(%x: !a0 {memgraph.range = #memgraph.range<-1.0, 0.15>}) -> !a0 {

// CHECK: func.func @main(%x: !a0 {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> !a0 attributes
// CHECK: memgraph.conv_2d %x, {{.*}} {memgraph.channels = [#memgraph.channels<4, left_out = [1 [0.0, 0.0] zero_weights, 2 [0.0, 0.0] interval, 3 [0.0, {{[0-9.]+}}] unread]>]} :
// CHECK-NOT: memgraph.fold_into_bias

// NONE-NOT: memgraph.channels
!x = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<4x1x1x2xf32, #memgraph.encoding<ohwi>>
!h = tensor<1x2x2x4xf32, #memgraph.encoding<nhwc>>
!v = tensor<2x1x1x4xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<[[[[1.0, 2.0]]], [[[0.0, 0.0]]], [[[3.0, 4.0]]], [[[5.0, 6.0]]]]> : !w
  %b = memgraph.constant dense<[1.0, 0.0, -8.0, 1.0]> : tensor<4xf32>
  %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 activation<relu> : (!x, !w, tensor<4xf32>) -> !h
  %v = memgraph.constant dense<[[[[7.0, 2.0, 5.0, 0.0]]], [[[8.0, -1.0, 0.0, 0.0]]]]> : !v
  %c = memgraph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %2 = memgraph.conv_2d %1, %v, %c window<[1, 1]> groups 1 : (!h, !v, tensor<2xf32>) -> !x
  func.return %2 : !x
}
