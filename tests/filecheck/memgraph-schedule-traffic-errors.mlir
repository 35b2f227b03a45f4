// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-schedule{objective=traffic on-chip=64}" %s

// expected-error@unknown {{memgraph-schedule: @scratch: objective=traffic: the workspace of step 0, 112 B, does not fit into 64 B}}
func.func @scratch(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<100>]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
// -----
// expected-error@unknown {{memgraph-schedule: @fused: objective=traffic: fused operators may have to part; leave out --fuse}}
func.func @fused(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %b = memgraph.fused (%x_1 = %x : tensor<8xi8>) -> tensor<8xi8> {
    %a = memgraph.opaque "widen"(%x_1) : (tensor<8xi8>) -> tensor<24xi8>
    %b_1 = memgraph.opaque "narrow"(%a) : (tensor<24xi8>) -> tensor<8xi8>
    memgraph.yield %b_1 : tensor<8xi8>
  }
  func.return %b : tensor<8xi8>
}
// -----
// expected-error@unknown {{memgraph-schedule: @parts: objective=traffic: the function is partitioned; leave out --partition}}
func.func @parts(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.partition = 0 : i64} : (tensor<8xi8>) -> tensor<24xi8>
  %b = memgraph.opaque "B"(%a) {memgraph.partition = 1 : i64} : (tensor<24xi8>) -> tensor<8xi8>
  func.return %b : tensor<8xi8>
}
// -----
func.func @written(%x: tensor<16xi8>) -> tensor<16xi8> {
  // expected-error@+1 {{memgraph-schedule: in-place results are not modelled}}
  %r = memgraph.relu %x {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %r : tensor<16xi8>
}
