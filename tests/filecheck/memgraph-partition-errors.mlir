// A partition that is stale, or was written by hand, is refused where it is wrong.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=auto %s

// RUN: not memopt-opt --split-input-file --partition=3 %s 2>&1 | filecheck %s --check-prefix=MANY
// MANY: error: memgraph-partition: @backwards: 2 operators cannot be cut into 3 parts

func.func @backwards(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 1 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  // expected-error@+1 {{'B (b)' is in part 0 but needs 'A (a)' of part 1: partition again}}
  %b = memgraph.opaque "B"(%a) {memgraph.partition = 0 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
// Through a view too.
func.func @through(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 3 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  %v = memgraph.reshape %a : (tensor<16xi8>) -> tensor<4x4xi8>
  // expected-error@+1 {{'B (b)' is in part 2 but needs 'A (a)' of part 3}}
  %b = memgraph.opaque "B"(%v) {memgraph.partition = 2 : i64} : (tensor<4x4xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
func.func @missing(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 0 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  // expected-error@+1 {{'B (b)' has no memgraph.partition, other operations have}}
  %b = memgraph.opaque "B"(%a) : (tensor<16xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
// -----
func.func @word(%x: tensor<16xi8>) -> tensor<16xi8> {
  // expected-error@+1 {{memgraph.partition must be a number from 0 on}}
  %a = memgraph.opaque "A"(%x) {memgraph.partition = "first"} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
// -----
func.func @negative(%x: tensor<16xi8>) -> tensor<16xi8> {
  // expected-error@+1 {{memgraph.partition must be a number from 0 on}}
  %a = memgraph.opaque "A"(%x) {memgraph.partition = -1 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
// -----
// Fused after it was partitioned: the hyper-node would have to run in two parts.
func.func @torn(%x: tensor<16xi8>) -> tensor<16xi8> {
  // expected-error@+1 {{'fused (y)' holds operations of several parts: partition again}}
  %y = memgraph.fused (%i = %x : tensor<16xi8>) -> tensor<16xi8> {
    %a = memgraph.opaque "A"(%i) {memgraph.partition = 0 : i64} : (tensor<16xi8>) -> tensor<32xi8>
    %b = memgraph.opaque "B"(%a) {memgraph.partition = 1 : i64} : (tensor<32xi8>) -> tensor<16xi8>
    memgraph.yield %b : tensor<16xi8>
  }
  func.return %y : tensor<16xi8>
}
// -----
// An empty part, as dead code leaves it behind, is no fault.
func.func @gap(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 0 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%a) {memgraph.partition = 2 : i64} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %b : tensor<16xi8>
}
