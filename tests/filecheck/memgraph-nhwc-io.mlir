// RUN: memopt-opt --split-input-file --nhwc-io %s | filecheck %s
// RUN: memopt-opt --split-input-file -p memgraph-nhwc-io %s | memopt-opt --split-input-file --nhwc-io | filecheck %s
// RUN: memopt-opt --split-input-file --print-op-generic --nhwc-io %s | memopt-opt --split-input-file | filecheck %s

// What is computed element by element between the border and the transposition is turned with it.
!c = tensor<1x2x3x4xf32, #memgraph.encoding<nchw>>
!l = tensor<1x3x4x2xf32, #memgraph.encoding<nhwc>>
// CHECK: [[L:!a0]] = tensor<1x3x4x2xf32, #memgraph.encoding<nhwc>>
// CHECK: func.func @border(%x: [[L]] {memgraph.name = "in"}, %y: tensor<2xf32>) -> ([[L]], tensor<2xf32>) {
// CHECK-NEXT: %0 = memgraph.tanh %x
// CHECK-NEXT: %1 = memgraph.relu %0
// CHECK-NEXT: %2 = memgraph.logistic %1
// CHECK-NEXT: func.return %2, %y : [[L]], tensor<2xf32>
func.func @border(%x: !c {memgraph.name = "in"}, %y: tensor<2xf32>) -> (!c, tensor<2xf32>) {
  %0 = memgraph.tanh %x : (!c) -> !c
  %1 = memgraph.transpose %0 permutation [0, 2, 3, 1] : (!c) -> !l
  %2 = memgraph.relu %1 : (!l) -> !l
  %3 = memgraph.transpose %2 permutation [0, 3, 1, 2] : (!l) -> !c
  %4 = memgraph.logistic %3 : (!c) -> !c
  func.return %4, %y : !c, tensor<2xf32>
}

// -----
// Dimensions of size 1 that changed places; what is channels last already stays.
// CHECK-LABEL: @flat
!c = tensor<1x1x3x4xf32, #memgraph.encoding<nchw>>
!l = tensor<1x3x4x1xf32, #memgraph.encoding<nhwc>>
// CHECK-NEXT: memgraph.add %x, %y
func.func @flat(%x: !c, %y: !l) -> !l {
  %0 = memgraph.reshape %x : (!c) -> !l
  %1 = memgraph.add %0, %y : (!l, !l) -> !l
  func.return %1 : !l
}

// -----
// Sequences, which are images one pixel wide inside, come and go place by place; what also reads one
// as it is keeps it.
// CHECK-LABEL: @sequences
// CHECK-SAME: (%x: !a0, %y: tensor<1x2x5xf32>) -> (!a0, tensor<1x2x5xf32>)
// CHECK-NEXT: %0 = memgraph.reshape %x : (!a0) -> !a1
// CHECK-NEXT: %1 = memgraph.relu %0
// CHECK-NEXT: %2 = memgraph.reshape %1 : (!a1) -> !a0
// CHECK-NEXT: %3 = memgraph.relu %y
// CHECK-NEXT: func.return %2, %3
!s = tensor<1x2x5xf32>
!c = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
!l = tensor<1x5x1x2xf32, #memgraph.encoding<nhwc>>
func.func @sequences(%x: !s, %y: !s) -> (!s, !s) {
  %0 = memgraph.reshape %x : (!s) -> !c
  %1 = memgraph.transpose %0 permutation [0, 2, 3, 1] : (!c) -> !l
  %2 = memgraph.relu %1 : (!l) -> !l
  %3 = memgraph.transpose %2 permutation [0, 3, 1, 2] : (!l) -> !c
  %4 = memgraph.reshape %3 : (!c) -> !s
  %5 = memgraph.relu %y : (!s) -> !s
  func.return %4, %5 : !s, !s
}
