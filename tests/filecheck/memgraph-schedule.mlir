// Every method gives a legal order and says what it proved. The two branches of @branches cost least
// one after the other: 336 B in source order, 192 B at best.
// RUN: memopt-opt --split-input-file --schedule=auto --verify-plan %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt --split-input-file --schedule=search --verify-plan %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt --split-input-file --schedule=greedy --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --schedule=rpo --verify-plan %s | filecheck %s --check-prefixes=CHECK,RPO
// RUN: memopt-opt --split-input-file --schedule=fwd-rpo --verify-plan %s | filecheck %s
// RUN: memopt-opt --split-input-file --schedule=source --verify-plan %s | filecheck %s --check-prefixes=CHECK,SOURCE
// RUN: not memopt-opt -p "memgraph-schedule{method=auto time-limit=10}" --split-input-file --verify-plan %s 2>&1 | filecheck %s --check-prefix=MIX
// RUN: not memopt-opt --schedule=fastest %s 2>&1 | filecheck %s --check-prefix=METHOD
// MIX: memopt-opt: error: shorthands such as --schedule do not mix with -p
// METHOD: memopt-opt: error: memgraph-schedule: {{.*}}fastest

// CHECK-LABEL: @branches
// BEST-SAME: peak = 192, lower_bound = 192, proof = {{flow|search}}
// SOURCE-SAME: peak = 336
// RPO-SAME: peak = 192
// CHECK: {memgraph.order = 0 : i64}
// CHECK: {memgraph.order = 1 : i64}
// CHECK: {memgraph.order = 2 : i64}
// CHECK: {memgraph.order = 3 : i64}
func.func @branches(%x: tensor<16xi8>) -> (tensor<16xi8>, tensor<16xi8>) {
  %a = memgraph.opaque "wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %b = memgraph.opaque "wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %c = memgraph.opaque "narrow"(%a) : (tensor<160xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "narrow"(%b) : (tensor<160xi8>) -> tensor<16xi8>
  func.return %c, %d : tensor<16xi8>, tensor<16xi8>
}
// -----
// Constants and views have no order and go right before their first user.
// CHECK-LABEL: @views
// CHECK-NOT: memgraph.order
// CHECK: memgraph.constant
// CHECK-NEXT: "A"{{.*}}memgraph.order = 0
// CHECK-NEXT: memgraph.reshape %{{.*}} : (
// CHECK-NEXT: "B"{{.*}}memgraph.order = 1
func.func @views(%x: tensor<16xi8>) -> tensor<16xi8> {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  %u = memgraph.constant dense<1> : tensor<16xi8>
  %r = memgraph.reshape %u : (tensor<16xi8>) -> tensor<4x4xi8>
  %a = memgraph.opaque "A"(%x, %w) : (tensor<16xi8>, tensor<4xi8>) -> tensor<16xi8>
  %v = memgraph.reshape %a : (tensor<16xi8>) -> tensor<4x4xi8>
  %b = memgraph.opaque "B"(%v) : (tensor<4x4xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// An operator of constants alone is a constant itself.
// CHECK-LABEL: @folds
// CHECK: memgraph.relu %{{.*}} {memgraph.order = 0 : i64}
// CHECK: memgraph.quantize %{{.*}} : (
// CHECK: memgraph.concat %{{.*}} axis 0 : (
// CHECK: memgraph.add %{{.*}} {memgraph.order = 1 : i64}
func.func @folds(%x: tensor<4xi8>) -> tensor<4xi8> {
  %w = memgraph.constant dense<1.0> : tensor<2xf32>
  %q = memgraph.quantize %w : (tensor<2xf32>) -> tensor<2xi8>
  %c = memgraph.concat %q, %q axis 0 : (tensor<2xi8>, tensor<2xi8>) -> tensor<4xi8>
  %a = memgraph.relu %x : (tensor<4xi8>) -> tensor<4xi8>
  %b = memgraph.add %a, %c : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  func.return %b : tensor<4xi8>
}
// -----
// Views off: a reshape is an operator that copies.
// CHECK-LABEL: @copies
// CHECK-SAME: peak = 32
// CHECK: memgraph.reshape %x {memgraph.order = 0 : i64}
func.func @copies(%x: tensor<16xi8>) -> tensor<4x4xi8> attributes {memgraph.model = #memgraph.model<views = off>} {
  %v = memgraph.reshape %x : (tensor<16xi8>) -> tensor<4x4xi8>
  func.return %v : tensor<4x4xi8>
}
// -----
// In place on: what may write over its operand does, and the alias says so.
// CHECK-LABEL: @inplace
// CHECK-SAME: peak = 32
// CHECK: "A"
// CHECK: memgraph.relu %{{.*}} {memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = inplace>]], memgraph.chosen_inplace, memgraph.order = 1 : i64}
// CHECK: "C"
func.func @inplace(%x: tensor<16xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<inplace = on>} {
  %a = memgraph.opaque "A"(%x) : (tensor<16xi8>) -> tensor<16xi8>
  %b = memgraph.relu %a : (tensor<16xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<16xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// A dead result exists during its own step; workspace counts there too.
// CHECK-LABEL: @dead
// CHECK-SAME: peak = 96
func.func @dead(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a, %b = memgraph.opaque "two"(%x) {memgraph.scratch = [#memgraph.scratch<17>]} : (tensor<16xi8>) -> (tensor<16xi8>, tensor<32xi8>)
  func.return %a : tensor<16xi8>
}
// -----
// Hyper-nodes are opened again: the function is flat. The chain fixes the sequence of segments.
// CHECK-LABEL: @opened
// CHECK-NEXT: "A"(%x) {memgraph.order = 0 : i64}
// CHECK-NEXT: "B"(%{{.*}}) {memgraph.order = 1 : i64}
// CHECK-NEXT: "C"(%{{.*}}) {memgraph.order = 2 : i64}
// CHECK-NEXT: func.return
func.func @opened(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a, %t = memgraph.segment (%i = %x : tensor<16xi8>) -> (tensor<64xi8>, !memgraph.chain) {
    %j = memgraph.opaque "A"(%i) : (tensor<16xi8>) -> tensor<64xi8>
    memgraph.yield %j : tensor<64xi8>
  }
  %b = memgraph.segment (%i = %a : tensor<64xi8>) after %t -> tensor<16xi8> {
    %j = memgraph.opaque "B"(%i) : (tensor<64xi8>) -> tensor<16xi8>
    %k = memgraph.opaque "C"(%j) : (tensor<16xi8>) -> tensor<16xi8>
    memgraph.yield %k : tensor<16xi8>
  }
  func.return %b : tensor<16xi8>
}
// -----
// Nothing to do is done.
// CHECK-LABEL: @empty
// CHECK-SAME: peak = 16, lower_bound = 16
func.func @empty(%x: tensor<16xi8>) -> tensor<16xi8> {
  func.return %x : tensor<16xi8>
}
