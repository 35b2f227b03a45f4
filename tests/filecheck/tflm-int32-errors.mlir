// TFLM counts bytes in 32 bits with a sign: what ends beyond is no plan, placed by us or by hand.
// RUN: memopt-opt --split-input-file --verify-diagnostics --model=target=tflm,scratch=none --schedule=source --place=greedy-by-size --verify-plan %s
// RUN: sed 's/^ *.. expected.*//' %s | memopt-opt --split-input-file --model=target=host --schedule=source --place=greedy-by-size --verify-plan

func.func @values(%x: tensor<1073741824xi8>) -> tensor<1073741824xi8> {
  // expected-error@+1 {{a ends at 2147483648 B, beyond the 2147483647 B that TFLM's int32 can say}}
  %a = memgraph.opaque "A"(%x) : (tensor<1073741824xi8>) -> tensor<1073741824xi8>
  func.return %a : tensor<1073741824xi8>
}

// -----

func.func @scratch(%x: tensor<2147483616xi8>) {
  // expected-error@+1 {{scratch ends at 2147483648 B}}
  memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<8>, #memgraph.scratch<16>]} : (tensor<2147483616xi8>) -> ()
  func.return
}

// -----

func.func @largest(%x: tensor<2147483616xi8>) {
  memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<8>]} : (tensor<2147483616xi8>) -> ()
  func.return
}
