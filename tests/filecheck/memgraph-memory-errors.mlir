// What does not fit is refused with operator, tensors and missing bytes; no plan is left.
// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=auto --memory=fast:96,slow:100 %s
// RUN: not memopt-opt --split-input-file --schedule=auto --memory=fast:96,slow:100 %s -o %t.mlir
// RUN: not cat %t.mlir
// RUN: not memopt-opt --memory=fast %s 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not memopt-opt --memory=fast:1K,FAST:2K %s 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not memopt-opt -p memgraph-memory %s 2>&1 | filecheck %s --check-prefix=NONE
// NAME: memopt-opt: error: memgraph-memory: 'fast' is no memory; write dtcm:64K or dtcm:64K@1
// TWICE: memopt-opt: error: memgraph-memory: memory FAST is given twice
// NONE: memopt-opt: error: memgraph-memory requires the option 'banks'
// RUN: not memopt-opt --memory=fast:1Q %s 2>&1 | filecheck %s --check-prefix=SIZE
// RUN: not memopt-opt --memory=fast:1K@0 %s 2>&1 | filecheck %s --check-prefix=COST
// SIZE: memopt-opt: error: memgraph-memory: '1Q' is no size; write 65536, 64K or 1M
// COST: memopt-opt: error: memgraph-memory: memory fast: '0' is no cost, a whole number from 1 on

// 48 + 128 + 32 B are live, but no tensor is in two memories: %b needs 128 B in one.
// expected-error@unknown {{the buffers do not fit into fast 96 B + slow 100 B: 28 B are missing at C (c) with b 128 B, a 32 B, c 16 B}}
func.func @one_is_too_large(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<32xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%b, %a) : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{missing at B (b) with b 192 B, a 96 B}}
func.func @too_large_together(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<96xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<96xi8>) -> tensor<192xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<192xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
// -----
// expected-error@unknown {{planned for target tflm, which has one arena}}
func.func @tflm(%x: tensor<64xi8>) -> tensor<16xi8> attributes {memgraph.model = #memgraph.model<target = tflm>} {
  %c = memgraph.opaque "C"(%x) : (tensor<64xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
