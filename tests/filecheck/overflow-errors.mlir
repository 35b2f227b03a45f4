// Sums that do not fit into 64 bits are refused where they arise, whatever comes after.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=auto %s
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source --place=auto %s
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source --place=shared-objects %s
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source --memory=a:64K,b:64M %s
// RUN: memopt-opt --split-input-file --verify-diagnostics --explain-peak %s

func.func @tensors(%x: tensor<4611686018427387000xi8>) -> tensor<4611686018427387000xi8> {
  // expected-error@+1 {{with a the buffers sum to 9223372036854774016 B, which overflows 64-bit sizes}}
  %a = memgraph.opaque "A"(%x) : (tensor<4611686018427387000xi8>) -> tensor<4611686018427387000xi8>
  %b = memgraph.opaque "A"(%x, %a) : (tensor<4611686018427387000xi8>, tensor<4611686018427387000xi8>) -> tensor<4611686018427387000xi8>
  func.return %b : tensor<4611686018427387000xi8>
}

// -----

func.func @scratch(%x: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{with scratch the buffers sum to 9223372036854775840 B, which overflows 64-bit sizes}}
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<9223372036854775807>, #memgraph.scratch<4>]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return %a : tensor<4xi8>
}

// -----

func.func @long(%x: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error@+1 {{scratch: 99999999999999999999 is no number of 64 bits}}
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<99999999999999999999>]} : (tensor<4xi8>) -> tensor<4xi8>
  func.return %a : tensor<4xi8>
}

// -----

// expected-error@unknown {{with y the buffers sum to 4611686018427387920 B}}
func.func @inputs(%x: tensor<16xi8>, %y: tensor<4611686018427387904xi8>) {
  memgraph.opaque "A"(%x, %y) : (tensor<16xi8>, tensor<4611686018427387904xi8>) -> ()
  func.return
}
