// A module with a valley inside becomes segments: others may run in the valley.
// RUN: memopt-opt --split-input-file --fuse %s | filecheck %s
// RUN: memopt-opt --split-input-file --fuse %s | memopt-opt --split-input-file | filecheck %s
// RUN: memopt-opt --split-input-file --fuse --schedule=search --verify-plan %s | filecheck %s --check-prefix=FLAT
// RUN: memopt-opt --split-input-file -p "memgraph-fuse{rule=t3}" %s | filecheck %s --check-prefix=T3
// RUN: memopt-opt --split-input-file -p "memgraph-fuse{rule=zhong}" %s | filecheck %s --check-prefix=ZHONG

// Levels 8, 2, 9, 1: B may not wait for C, q runs in the valley behind A. The order of A and of what
// B and C became is fixed by the values alone: nothing is gained by a chain.
// CHECK-LABEL: @stairs
// CHECK-NEXT: "A"
// CHECK-NEXT: memgraph.fused (%{{.*}} = %a : tensor<2xi8>) -> tensor<1xi8>
// CHECK-NEXT: "B"
// CHECK-NEXT: "C"
// CHECK-NOT: memgraph.segment
// CHECK: "q"
// FLAT-LABEL: @stairs
// FLAT-SAME: peak = 23, lower_bound = 23
// FLAT-NOT: memgraph.segment
// T3-LABEL: @stairs
// T3-NOT: memgraph.segment
// T3: func.return
// ZHONG-LABEL: @stairs
// ZHONG-NOT: memgraph.segment
// ZHONG: func.return
func.func @stairs(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<1xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<2>]} : (tensor<8xi8>) -> tensor<2xi8>
  %b = memgraph.opaque "B"(%a) {memgraph.scratch = [#memgraph.scratch<5>]} : (tensor<2xi8>) -> tensor<9xi8>
  %c = memgraph.opaque "C"(%b) {memgraph.scratch = [#memgraph.scratch<3>]} : (tensor<9xi8>) -> tensor<1xi8>
  %q = memgraph.opaque "q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>) -> tensor<2xi8>
  func.return %c, %q : tensor<1xi8>, tensor<2xi8>
}
// -----
// Zhong's Theorem IV.2, corrected: 27 B, not 30 B. Two segments, cut at the valley of 4 B.
// CHECK-LABEL: @zhong
// CHECK: %{{.*}}, %{{.*}}, %[[T:.*]] = memgraph.segment
// CHECK: after %[[T]]
// FLAT-LABEL: @zhong
// FLAT-SAME: peak = 27, lower_bound = 27
// ZHONG-LABEL: @zhong
// ZHONG-NOT: memgraph.fused
// ZHONG: func.return
func.func @zhong(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<8xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "0"(%x) : (tensor<8xi8>) -> tensor<3xi8>
  %b = memgraph.opaque "1"(%x) : (tensor<8xi8>) -> tensor<1xi8>
  %c = memgraph.opaque "2"(%a) : (tensor<3xi8>) -> tensor<8xi8>
  %y = memgraph.opaque "3"(%a, %b, %c) {memgraph.scratch = [#memgraph.scratch<5>]} : (tensor<3xi8>, tensor<1xi8>, tensor<8xi8>) -> tensor<8xi8>
  %q = memgraph.opaque "q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>) -> tensor<2xi8>
  func.return %y, %q : tensor<8xi8>, tensor<2xi8>
}
// -----
// In place inside a module is written down, because its hill counts on it.
// CHECK-LABEL: @inplace
// CHECK: memgraph.fused
// CHECK: "Relu"(%{{.*}}) {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace}
// FLAT-LABEL: @inplace
// FLAT-SAME: peak = 32, lower_bound = 32
// T3-LABEL: @inplace
// T3: memgraph.fused
// ZHONG-LABEL: @inplace
// ZHONG: memgraph.fused
func.func @inplace(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1, inplace = on>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<24xi8>
  %r = memgraph.opaque "Relu"(%a) : (tensor<24xi8>) -> tensor<24xi8>
  %b = memgraph.opaque "B"(%r) : (tensor<24xi8>) -> tensor<8xi8>
  func.return %b : tensor<8xi8>
}
