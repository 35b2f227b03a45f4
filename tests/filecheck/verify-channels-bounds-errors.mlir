// RUN: memopt-opt --split-input-file --verify-diagnostics -p memgraph-verify-channels %s

// What is derived of each channel, or of ends of whole tensors, is of a bounded size.

func.func @main(%x: tensor<1x3000000000xi8>) { // expected-error {{x has too many channels or elements to verify claims}}
  func.return
}

// -----

func.func @main(%x: tensor<?xi8>) { // expected-error {{x has a dynamic dimension; fix it with --shape}}
  func.return
}

// -----

func.func @main() -> tensor<1x2xf32> {
  %0 = memgraph.opaque "a"() {memgraph.channels = [#memgraph.channels<30000000, left_out = [0 [0.0, 0.0] unread]>]} : () -> tensor<1x2xf32> // expected-error {{a#0 has too many channels or elements to verify claims}}
  func.return %0 : tensor<1x2xf32>
}
