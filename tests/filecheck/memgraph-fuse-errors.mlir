// A hyper-node that somebody wrote by hand is checked before it is opened.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=auto %s

// The case of theory.md against Zhong's Theorem IV.2: fused 30 B, 27 B at best.
func.func @zhong(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<8xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  // expected-error@+1 {{a hyper-node that is not safe: running it in one go may cost}}
  %y = memgraph.fused (%i = %x : tensor<8xi8>) -> tensor<8xi8> {
    %a = memgraph.opaque "0"(%i) : (tensor<8xi8>) -> tensor<3xi8>
    %c = memgraph.opaque "2"(%a) : (tensor<3xi8>) -> tensor<8xi8>
    %b = memgraph.opaque "1"(%i) : (tensor<8xi8>) -> tensor<1xi8>
    %z = memgraph.opaque "3"(%a, %b, %c) {memgraph.scratch = [#memgraph.scratch<5>]} : (tensor<3xi8>, tensor<1xi8>, tensor<8xi8>) -> tensor<8xi8>
    memgraph.yield %z : tensor<8xi8>
  }
  %q = memgraph.opaque "q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>) -> tensor<2xi8>
  func.return %y, %q : tensor<8xi8>, tensor<2xi8>
}
// -----
func.func @valley(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  // expected-error@+1 {{a hyper-node that is not safe}}
  %y = memgraph.fused (%i = %x : tensor<8xi8>) -> tensor<8xi8> {
    %a = memgraph.opaque "0"(%i) : (tensor<8xi8>) -> tensor<3xi8>
    %c = memgraph.opaque "2"(%a) : (tensor<3xi8>) -> tensor<8xi8>
    memgraph.yield %c : tensor<8xi8>
  }
  func.return %y : tensor<8xi8>
}
// -----
// The node says that x ends inside, but it is read again: its levels would be too low.
func.func @not_kept(%x: tensor<8xi8>) -> tensor<2xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  // expected-error@+1 {{a hyper-node that hides what it does: 'fused (y)' takes other bytes than its region}}
  %y = memgraph.fused (%i = %x : tensor<8xi8>) -> tensor<8xi8> {
    %a = memgraph.opaque "0"(%i) : (tensor<8xi8>) -> tensor<24xi8>
    %c = memgraph.opaque "1"(%a) : (tensor<24xi8>) -> tensor<24xi8>
    %d = memgraph.opaque "2"(%c) : (tensor<24xi8>) -> tensor<8xi8>
    memgraph.yield %d : tensor<8xi8>
  }
  %q = memgraph.opaque "q"(%x, %y) : (tensor<8xi8>, tensor<8xi8>) -> tensor<2xi8>
  func.return %q : tensor<2xi8>
}
// -----
// One buffer under two values: inside it looks like two.
func.func @twice(%x: tensor<8xi8>) -> tensor<8xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %v = memgraph.reshape %x : (tensor<8xi8>) -> tensor<2x4xi8>
  // expected-error@+1 {{a hyper-node that hides what it does: 'fused (y)' takes other bytes than its region}}
  %y = memgraph.fused (%i = %x : tensor<8xi8>, %j = %v : tensor<2x4xi8>) -> tensor<8xi8> {
    %a = memgraph.opaque "0"(%i) : (tensor<8xi8>) -> tensor<24xi8>
    %b = memgraph.opaque "1"(%a, %j) : (tensor<24xi8>, tensor<2x4xi8>) -> tensor<8xi8>
    memgraph.yield %b : tensor<8xi8>
  }
  func.return %y : tensor<8xi8>
}
