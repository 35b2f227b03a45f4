// RUN: memopt-opt --split-input-file --fuse %s | filecheck %s
// RUN: memopt-opt --split-input-file --fuse --schedule=auto --verify-plan %s | filecheck %s --check-prefix=FLAT

// A chain whose inner levels are never below its ends runs in one piece.
// CHECK-LABEL: @chain
// CHECK-NEXT: %{{.*}} = memgraph.fused (%{{.*}} = %x : tensor<8xi8>) -> tensor<8xi8>
// CHECK-NEXT: "A"
// CHECK-NEXT: "B"
// CHECK-NEXT: memgraph.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
// FLAT-LABEL: @chain
// FLAT-SAME: peak = 32
// FLAT-NEXT: "A"
// FLAT-NEXT: "B"
// FLAT-NEXT: func.return
func.func @chain(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 8>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<24xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<24xi8>) -> tensor<8xi8>
  func.return %b : tensor<8xi8>
}
// -----
// A valley inside (1 B between 8 B and 8 B) is a place where others may run: not fused.
// CHECK-LABEL: @valley
// CHECK-NOT: memgraph.fused
// FLAT-LABEL: @valley
func.func @valley(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<8xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<1xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<1xi8>) -> tensor<8xi8>
  %q = memgraph.opaque "Q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>) -> tensor<2xi8>
  func.return %b, %q : tensor<8xi8>, tensor<2xi8>
}
// -----
// Zhong's Theorem IV.2, as printed, would fuse 0..3 (theory.md section 2): the optimum is 27 B, 30 B
// fused. The inner levels 8, 11, 19, 12, 8 of the order 0, 2, 1, 3 are never below 8, yet those of
// 0, 1, 2, 3 show the valley of 4 B that matters.
// FLAT-LABEL: @zhong
// FLAT-SAME: peak = 27, lower_bound = {{[0-9]+}}
func.func @zhong(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<8xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "0"(%x) : (tensor<8xi8>) -> tensor<3xi8>
  %b = memgraph.opaque "1"(%x) : (tensor<8xi8>) -> tensor<1xi8>
  %c = memgraph.opaque "2"(%a) : (tensor<3xi8>) -> tensor<8xi8>
  %y = memgraph.opaque "3"(%a, %b, %c) {memgraph.scratch = [#memgraph.scratch<5>]} : (tensor<3xi8>, tensor<1xi8>, tensor<8xi8>) -> tensor<8xi8>
  %q = memgraph.opaque "q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>) -> tensor<2xi8>
  func.return %y, %q : tensor<8xi8>, tensor<2xi8>
}
// -----
// Operators with effects stay outside; fusing twice is fusing once.
// CHECK-LABEL: @stateful
// CHECK-NOT: memgraph.fused
// FLAT-LABEL: @stateful
func.func @stateful(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) stateful : (tensor<8xi8>) -> tensor<24xi8>
  %b = memgraph.opaque "B"(%a) stateful : (tensor<24xi8>) -> tensor<8xi8>
  func.return %b : tensor<8xi8>
}
// -----
// Constants are copied into the region; operands that are needed later are kept.
// CHECK-LABEL: @kept
// CHECK: memgraph.fused (%{{.*}} = %x : tensor<8xi8>) kept [0] -> tensor<8xi8>
// CHECK-NEXT: memgraph.constant dense<1>
// FLAT-LABEL: @kept
func.func @kept(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {
  %w = memgraph.constant dense<1> : tensor<2xi8>
  %a = memgraph.opaque "A"(%x, %w) : (tensor<8xi8>, tensor<2xi8>) -> tensor<24xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<24xi8>) -> tensor<8xi8>
  func.return %b, %x : tensor<8xi8>, tensor<8xi8>
}
// -----
// A tensor and its view, both read inside: the view goes inside with it.
// CHECK-LABEL: @views
// CHECK-NEXT: memgraph.fused (%{{.*}} = %x : tensor<8xi8>) -> tensor<8xi8>
// CHECK-NEXT: %[[A:.*]] = memgraph.opaque "A"
// CHECK-NEXT: memgraph.reshape %[[A]] : (tensor<24xi8>) -> tensor<4x6xi8>
// CHECK-NEXT: "B"
// CHECK-NEXT: "C"
// CHECK-NEXT: memgraph.yield
// FLAT-LABEL: @views
// FLAT-SAME: peak = 56, lower_bound = 56
func.func @views(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<24xi8>
  %v = memgraph.reshape %a : (tensor<24xi8>) -> tensor<4x6xi8>
  %b = memgraph.opaque "B"(%v) : (tensor<4x6xi8>) -> tensor<24xi8>
  %c = memgraph.opaque "C"(%a, %b) : (tensor<24xi8>, tensor<24xi8>) -> tensor<8xi8>
  func.return %c : tensor<8xi8>
}
// -----
// What is needed outside as well (the view, the constant) stays there and is repeated inside; the flat
// function has each once, as it had.
// CHECK-LABEL: @repeated
// CHECK: memgraph.segment (%{{.*}} = %g : tensor<6xi8>)
// CHECK-NEXT: memgraph.constant dense<1> : tensor<2xi8> {memgraph.repeated}
// CHECK: memgraph.segment (%{{.*}} = %x : tensor<8xi8>) after
// CHECK-NEXT: memgraph.constant dense<1> : tensor<2xi8>{{$}}
// CHECK-NEXT: %[[A:.*]] = memgraph.opaque "A"
// CHECK-NEXT: memgraph.reshape %[[A]] {memgraph.repeated}
// CHECK: memgraph.yield %[[A]]
// CHECK-NEXT: }
// CHECK-NEXT: memgraph.reshape %{{.*}} : (tensor<12xi8>) -> tensor<3x4xi8>
// FLAT-LABEL: @repeated
// FLAT-SAME: peak = 30, lower_bound = 30
// FLAT: memgraph.constant
// FLAT-NOT: memgraph.constant
// FLAT: memgraph.reshape
// FLAT-NOT: memgraph.reshape
// FLAT: func.return
func.func @repeated(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<3x4xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %w = memgraph.constant dense<1> : tensor<2xi8>
  %a = memgraph.opaque "A"(%x, %w) : (tensor<8xi8>, tensor<2xi8>) -> tensor<12xi8>
  %v = memgraph.reshape %a : (tensor<12xi8>) -> tensor<3x4xi8>
  %b = memgraph.opaque "B"(%a, %v) : (tensor<12xi8>, tensor<3x4xi8>) -> tensor<1xi8>
  %q = memgraph.opaque "q"(%g, %w) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>, tensor<2xi8>) -> tensor<2xi8>
  %z = memgraph.opaque "z"(%b) : (tensor<1xi8>) -> tensor<0xi8>
  func.return %v, %q : tensor<3x4xi8>, tensor<2xi8>
}
// -----
// The parts of a zero-copy concat, one of which is written elsewhere: no region can say how many bytes
// begin with its part, so nothing is fused across.
// CHECK-LABEL: @parts
// CHECK-NOT: memgraph.fused
// FLAT-LABEL: @parts
func.func @parts(%x: tensor<8xi8>) -> tensor<24xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %s = memgraph.opaque "S"(%x) stateful : (tensor<8xi8>) -> tensor<8xi8>
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<4xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<4xi8>) -> tensor<16xi8>
  %c = memgraph.concat %s, %b axis 0 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>, #memgraph.alias<operand = 1, kind = slice, byte_offset = -8>]]} : (tensor<8xi8>, tensor<16xi8>) -> tensor<24xi8>
  func.return %c : tensor<24xi8>
}
