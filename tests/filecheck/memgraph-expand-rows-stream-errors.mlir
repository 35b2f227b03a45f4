// RUN: sed '/^.. NAMES/,$d' %s > %t.mlir
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-expand-rows{stream-input=true}" %t.mlir
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-expand-rows{rows=auto stream-input=true}" %t.mlir
// RUN: sed -n '/^func.func @names/,/^}/p' %s > %t.names.mlir
// RUN: not memopt-opt -p "memgraph-expand-rows{rows=z stream-input=true}" %t.names.mlir 2>&1 | filecheck %s --check-prefix=NAMES
// RUN: not memopt-opt -p "memgraph-expand-rows{rows=none stream-input=true}" %t.names.mlir 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not memopt-opt -p "memgraph-model{io=kept},memgraph-expand-rows{stream-input=true}" %t.names.mlir 2>&1 | filecheck %s --check-prefix=KEPT
// RUN: not memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-expand-rows{stream-input=true}" %t.names.mlir 2>&1 | filecheck %s --check-prefix=TWICE

// What cannot be streamed is refused by name.
// expected-error @unknown {{one input is streamed, the function has x, y}}
func.func @several(%x: tensor<1x3x4x4xi8>, %y: tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8> {
  %z = memgraph.add %x, %y : (tensor<1x3x4x4xi8>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  func.return %z : tensor<1x3x4x4xi8>
}
// -----
// expected-error @unknown {{x, 3x16, has no rows}}
func.func @vector(%x: tensor<3x16xi8>) -> tensor<3x16xi8> {
  %z = memgraph.relu %x : (tensor<3x16xi8>) -> tensor<3x16xi8>
  func.return %z : tensor<3x16xi8>
}
// -----
// expected-error @unknown {{x, 1x16, has no rows}}
func.func @audio(%x: tensor<1x16xi8>) -> tensor<1x16xi8> {
  %z = memgraph.relu %x : (tensor<1x16xi8>) -> tensor<1x16xi8>
  func.return %z : tensor<1x16xi8>
}
// -----
func.func @reader(%x: tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8> {
  %y = memgraph.relu %x : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  // expected-error @below {{FFT (z) has no rows, it reads all of x}}
  %z = memgraph.opaque "FFT"(%x) : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  %s = memgraph.add %y, %z : (tensor<1x3x4x4xi8>, tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  func.return %s : tensor<1x3x4x4xi8>
}
// -----
func.func @returned(%x: tensor<1x3x4x4xi8>) -> (tensor<1x3x4x4xi8>, tensor<1x3x4x4xi8>) {
  %y = memgraph.relu %x : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  // expected-error @below {{func.return has no rows, it reads all of x}}
  func.return %x, %y : tensor<1x3x4x4xi8>, tensor<1x3x4x4xi8>
}
// -----
// expected-error @unknown {{nothing reads x}}
func.func @unread(%x: tensor<1x3x4x4xi8>) -> tensor<2xi8> {
  %y = memgraph.constant dense<1> : tensor<2xi8>
  func.return %y : tensor<2xi8>
}
// NAMES: error: memgraph-expand-rows{stream-input}: relu (y) is not cut, it reads all of x
// NONE: stream-input needs operators in rows, not rows=none
// KEPT: error: memgraph-expand-rows{stream-input}: x is not kept, as the memory model asks
// TWICE: error: memgraph-expand-rows{stream-input}: x is received in rows already
func.func @names(%x: tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8> {
  %y = memgraph.relu %x : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  %z = memgraph.relu %y : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xi8>
  func.return %z : tensor<1x3x4x4xi8>
}
