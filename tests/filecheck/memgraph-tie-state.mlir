// RUN: memopt-opt --split-input-file --state=h:h_next %s | filecheck %s
// RUN: memopt-opt --split-input-file -p 'memgraph-tie-state{of="h:h_next"}' %s | memopt-opt --split-input-file --state=h:h_next | filecheck %s
// RUN: memopt-opt --split-input-file --print-op-generic --state=h:h_next %s | memopt-opt --split-input-file | filecheck %s

// CHECK-LABEL: @plain
// CHECK-SAME: (%x: tensor<1x4xf32> {memgraph.name = "in"}) -> tensor<1x4xf32> {
// CHECK-NEXT: %0 = memgraph.variable "h" : tensor<1x4xf32>
// CHECK-NEXT: %h = memgraph.read_variable %0 {memgraph.names = ["h"]}
// CHECK-NEXT: %1 = memgraph.add %x, %h
// CHECK-NEXT: %2 = memgraph.relu %1
// CHECK-NEXT: memgraph.assign_variable %1, %0 : tensor<1x4xf32>, tensor<1x4xf32>
// CHECK-NEXT: func.return %2 : tensor<1x4xf32>
!t = tensor<1x4xf32>
func.func @plain(%x: !t {memgraph.name = "in"}, %h: !t) -> (!t, !t) {
  %0 = memgraph.add %x, %h {memgraph.names = ["h_next"]} : (!t, !t) -> !t
  %1 = memgraph.relu %0 : (!t) -> !t
  func.return %1, %0 : !t, !t
}

// -----
// A state of real numbers that are stored as bytes of one quantization is kept as these.
// CHECK-LABEL: @stored
// CHECK: [[V:%.*]] = memgraph.variable "h" : !a0
// CHECK-NEXT: [[H:%.*]] = memgraph.read_variable [[V]]
// CHECK-NEXT: [[S:%.*]] = memgraph.add %x, [[H]]
// CHECK-NEXT: memgraph.assign_variable [[S]], [[V]]
// CHECK-NEXT: func.return [[S]]
!t = tensor<1x4xf32>
!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
func.func @stored(%x: !q, %h: !t) -> (!q, !t) {
  %0 = memgraph.quantize %h : (!t) -> !q
  %1 = memgraph.add %x, %0 : (!q, !q) -> !q
  %2 = memgraph.dequantize %1 {memgraph.names = ["h_next"]} : (!q) -> !t
  func.return %1, %2 : !q, !t
}

// -----
// Where the two quantizations differ, or something else reads the reals, these are kept.
// CHECK-LABEL: @apart
// CHECK: memgraph.variable "h" : tensor<1x4xf32>
// CHECK: memgraph.dequantize
// CHECK-NEXT: memgraph.assign_variable
!t = tensor<1x4xf32>
!q = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [3]>>
!r = tensor<1x4xi8, #memgraph.encoding<nhwc, scale = [0.5], zero_point = [4]>>
func.func @apart(%x: !q, %h: !t) -> (!q, !t) {
  %0 = memgraph.quantize %h : (!t) -> !q
  %1 = memgraph.add %x, %0 : (!q, !q) -> !r
  %2 = memgraph.dequantize %1 {memgraph.names = ["h_next"]} : (!r) -> !t
  func.return %x, %2 : !q, !t
}

// -----
// A state that stays what it is, and one that becomes another input.
// CHECK-LABEL: @same
// CHECK: [[V:%.*]] = memgraph.variable "h" : tensor<1x4xf32>
// CHECK-NEXT: [[H:%.*]] = memgraph.read_variable [[V]]
// CHECK-NEXT: [[Y:%.*]] = memgraph.relu [[H]]
// CHECK-NEXT: memgraph.assign_variable %h_next, [[V]]
// CHECK-NEXT: func.return [[Y]]
!t = tensor<1x4xf32>
func.func @same(%h_next: !t, %h: !t) -> (!t, !t) {
  %0 = memgraph.relu %h : (!t) -> !t
  func.return %0, %h_next : !t, !t
}
