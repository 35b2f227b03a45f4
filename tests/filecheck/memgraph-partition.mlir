// RUN: memopt-opt --split-input-file --partition=2 %s | filecheck %s
// RUN: memopt-opt --split-input-file --partition=2 --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt --split-input-file --partition=2 %s | memopt-opt --split-input-file --schedule=auto --place=auto --verify-plan | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt --split-input-file -p "memgraph-partition{k=2 method=naive}" %s | filecheck %s --check-prefix=NAIVE
// RUN: memopt-opt --split-input-file --partition=auto %s | filecheck %s --check-prefix=AUTO
// RUN: memopt-opt --split-input-file --partition=2 --print-op-generic %s | memopt-opt --split-input-file | filecheck %s

// The cheap cut is after C, where 16 B are alive.
// CHECK-LABEL: @narrow
// CHECK-NOT: memgraph.plan
// CHECK: "A"(%x) {memgraph.partition = 0 : i64}
// CHECK: "B"(%{{.*}}) {memgraph.partition = 0 : i64}
// CHECK: "C"(%{{.*}}) {memgraph.partition = 0 : i64}
// CHECK: "D"(%{{.*}}) {memgraph.partition = 1 : i64}
// CHECK: "E"(%{{.*}}) {memgraph.partition = 1 : i64}
// PLAN-LABEL: @narrow
// PLAN-SAME: peak = 112, lower_bound = 112, proof = flow
// PLAN: "A"(%x) {memgraph.partition = 0 : i64, memgraph.order = 0 : i64
// PLAN: "E"(%{{.*}}) {memgraph.partition = 1 : i64, memgraph.order = 4 : i64
// NAIVE-LABEL: @narrow
// NAIVE: "C"(%{{.*}}) {memgraph.partition = 0 : i64}
// NAIVE: "D"(%{{.*}}) {memgraph.partition = 1 : i64}
// AUTO-LABEL: @narrow
// AUTO: "A"(%x) {memgraph.partition = 0 : i64}
// AUTO: "E"(%{{.*}}) {memgraph.partition = 0 : i64}
func.func @narrow(%x: tensor<32xi8>) -> tensor<32xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<32xi8>) -> tensor<48xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<48xi8>) -> tensor<64xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<64xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "D"(%c) : (tensor<16xi8>) -> tensor<64xi8>
  %e = memgraph.opaque "E"(%d) : (tensor<64xi8>) -> tensor<32xi8>
  func.return %e : tensor<32xi8>
}
// -----
// Constants and views have no part.
// CHECK-LABEL: @views
// CHECK: memgraph.constant dense<1> : tensor<4xi8>
// CHECK: "A"(%x, %{{.*}}) {memgraph.partition = 0 : i64}
// CHECK: memgraph.reshape %{{.*}} : (tensor<16xi8>) -> tensor<4x4xi8>
// CHECK: "B"(%{{.*}}) {memgraph.partition = 1 : i64}
// PLAN-LABEL: @views
// PLAN: memgraph.constant
// PLAN-NOT: memgraph.partition = 0
// PLAN: "A"
func.func @views(%x: tensor<16xi8>) -> tensor<16xi8> {
  %w = memgraph.constant dense<1> : tensor<4xi8>
  %a = memgraph.opaque "A"(%x, %w) : (tensor<16xi8>, tensor<4xi8>) -> tensor<16xi8>
  %v = memgraph.reshape %a : (tensor<16xi8>) -> tensor<4x4xi8>
  %b = memgraph.opaque "B"(%v) : (tensor<4x4xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// A hyper-node is in one part, and so are its operations when it is opened.
// CHECK-LABEL: @segments
// CHECK: memgraph.segment (%{{.*}} = %x : tensor<16xi8>) -> (tensor<64xi8>, !memgraph.chain) attributes {memgraph.partition = 0 : i64}
// CHECK: "A"(%{{.*}}) {memgraph.partition = 0 : i64}
// CHECK: memgraph.segment (%{{.*}} : tensor<64xi8>) after %{{.*}} -> tensor<16xi8> attributes {memgraph.partition = 1 : i64}
// CHECK: "B"(%{{.*}}) {memgraph.partition = 1 : i64}
// CHECK: "C"(%{{.*}}) {memgraph.partition = 1 : i64}
// PLAN-LABEL: @segments
// PLAN-NOT: memgraph.segment
// PLAN: "A"(%x) {memgraph.partition = 0 : i64, memgraph.order = 0 : i64
// PLAN: "B"(%{{.*}}) {memgraph.partition = 1 : i64, memgraph.order = 1 : i64
// PLAN: "C"(%{{.*}}) {memgraph.partition = 1 : i64, memgraph.order = 2 : i64
func.func @segments(%x: tensor<16xi8>) -> tensor<16xi8> {
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
