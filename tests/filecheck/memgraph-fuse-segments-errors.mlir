// Segments that somebody wrote by hand are derived again before they are opened.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=auto %s

// The boundary stands on the hill, not in the valley of 2 B.
func.func @cut_on_the_hill(%x: tensor<8xi8>, %g: tensor<6xi8>) -> (tensor<1xi8>, tensor<2xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  // expected-error@+1 {{a hyper-node that is not safe: running it in one go may cost}}
  %b, %t = memgraph.segment (%i = %x : tensor<8xi8>) -> (tensor<9xi8>, !memgraph.chain) {
    %a = memgraph.opaque "A"(%i) : (tensor<8xi8>) -> tensor<2xi8>
    %j = memgraph.opaque "B"(%a) : (tensor<2xi8>) -> tensor<9xi8>
    memgraph.yield %j : tensor<9xi8>
  }
  %c = memgraph.segment (%i = %b : tensor<9xi8>) after %t -> tensor<1xi8> {
    %j = memgraph.opaque "C"(%i) : (tensor<9xi8>) -> tensor<1xi8>
    memgraph.yield %j : tensor<1xi8>
  }
  %q = memgraph.opaque "q"(%g) {memgraph.scratch = [#memgraph.scratch<14>]} : (tensor<6xi8>) -> tensor<2xi8>
  func.return %c, %q : tensor<1xi8>, tensor<2xi8>
}
// -----
// The two do not belong together: z reads x as well, beside them.
func.func @not_separable(%x: tensor<4xi8>) -> (tensor<3xi8>, tensor<1xi8>) attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  // expected-error@+1 {{a hyper-node that is not safe}}
  %m, %t = memgraph.segment (%i = %x : tensor<4xi8>) kept [0] -> (tensor<4xi8>, !memgraph.chain) {
    %j = memgraph.opaque "v0"(%i) {memgraph.scratch = [#memgraph.scratch<4>]} : (tensor<4xi8>) -> tensor<4xi8>
    memgraph.yield %j : tensor<4xi8>
  }
  %n = memgraph.segment (%i = %m : tensor<4xi8>) after %t -> tensor<3xi8> {
    %j = memgraph.opaque "v1"(%i) {memgraph.scratch = [#memgraph.scratch<4>]} : (tensor<4xi8>) -> tensor<3xi8>
    memgraph.yield %j : tensor<3xi8>
  }
  %z = memgraph.opaque "z"(%x) : (tensor<4xi8>) -> tensor<1xi8>
  func.return %n, %z : tensor<3xi8>, tensor<1xi8>
}
