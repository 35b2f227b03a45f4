// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-traffic{on-chip=64}" %s

func.func @inplace(%x: tensor<16xi8>) -> tensor<16xi8> {
  // expected-error@+1 {{memgraph-traffic: in-place results are not modelled}}
  %r = memgraph.relu %x {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %r : tensor<16xi8>
}
// -----
// expected-error@unknown {{memgraph-traffic: @scratch: the workspace of step 0, 112 B, does not fit into 64 B}}
func.func @scratch(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<100>]} : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
// -----
// expected-error@unknown {{the function has hyper-nodes; run --schedule to get a flat one}}
func.func @fused(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %b = memgraph.fused (%x_1 = %x : tensor<8xi8>) -> tensor<8xi8> {
    %a = memgraph.opaque "widen"(%x_1) : (tensor<8xi8>) -> tensor<24xi8>
    %b_1 = memgraph.opaque "narrow"(%a) : (tensor<24xi8>) -> tensor<8xi8>
    memgraph.yield %b_1 : tensor<8xi8>
  }
  func.return %b : tensor<8xi8>
}
