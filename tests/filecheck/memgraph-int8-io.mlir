// RUN: memopt-opt --split-input-file --int8-io %s | filecheck %s
// RUN: memopt-opt --split-input-file -p memgraph-int8-io %s | memopt-opt --split-input-file --int8-io | filecheck %s
// RUN: memopt-opt --split-input-file --print-op-generic --int8-io %s | memopt-opt --split-input-file | filecheck %s

!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
// CHECK: [[Q:!a0]] = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
// CHECK: func.func @border(%x: [[Q]] {memgraph.name = "in"}, %y: [[Q]]) -> ([[Q]], [[Q]]) {
// CHECK-NEXT: %0 = memgraph.add %x, %y
// CHECK-NEXT: func.return %0, %x : [[Q]], [[Q]]
func.func @border(%x: tensor<1x4xf32> {memgraph.name = "in"}, %y: !q) -> (tensor<1x4xf32>, !q) {
  %0 = memgraph.quantize %x : (tensor<1x4xf32>) -> !q
  %1 = memgraph.add %0, %y : (!q, !q) -> !q
  %2 = memgraph.dequantize %1 : (!q) -> tensor<1x4xf32>
  func.return %2, %0 : tensor<1x4xf32>, !q
}

// -----
// What is stored already stays.
// CHECK-LABEL: @stored
!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
// CHECK: memgraph.relu %x
func.func @stored(%x: !q) -> !q {
  %0 = memgraph.relu %x : (!q) -> !q
  func.return %0 : !q
}
