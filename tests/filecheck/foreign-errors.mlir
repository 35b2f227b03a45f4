// What the passes do not plan in functions of other dialects, refused by name.
// RUN: memopt-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect --schedule=source %s

func.func @memref(%m: memref<16xi8>, %i: index) {
  // expected-error@+1 {{memref.load uses a memref; only tensors are planned}}
  %v = memref.load %m[%i] : memref<16xi8>
  func.return
}
// -----
func.func @alloc() {
  // expected-error@+1 {{memref.alloc uses a memref; only tensors are planned}}
  %m = memref.alloc() : memref<16xi8>
  func.return
}
// -----
func.func @buffer_in_region(%x: tensor<16xi8>, %n: i1) {
  // expected-error@+1 {{scf.if has the buffer i in a region, which is not planned}}
  %b = scf.if %n -> (tensor<16xi8>) {
    %i = memgraph.opaque "inner"(%x) : (tensor<16xi8>) -> tensor<16xi8>
    scf.yield %i : tensor<16xi8>
  } else {
    scf.yield %x : tensor<16xi8>
  }
  func.return
}
// -----
func.func @loop(%x: tensor<16xi8>, %n: index) {
  // expected-error@+1 {{scf.for has the buffer a in a region, which is not planned}}
  %b = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (tensor<16xi8>) {
    scf.yield %a : tensor<16xi8>
  }
  func.return
}
// -----
func.func @dynamic(%x: tensor<16xi8>) {
  // expected-error@+1 {{tensor<?xi8> has a dynamic dimension; fix it with --shape}}
  %b = "other.op"(%x) : (tensor<16xi8>) -> tensor<?xi8>
  func.return
}
// -----
func.func @init_is_returned(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error@+1 {{n cannot take the place of m, which is kept or not in the arena}}
  %n = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%m : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %m, %n : tensor<4x4xf32>, tensor<4x4xf32>
}
// -----
func.func @init_used_twice(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error@+1 {{y is overwritten twice}}
  %n = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %m, %n : tensor<4x4xf32>, tensor<4x4xf32>
}
// -----
// The arena of a function that is called would live beside the caller's.
func.func @callee(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.add ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a : tensor<4x4xf32>
}
func.func @caller(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{func.call of @callee, whose own arena lies in nobody's; inline it first}}
  %a = func.call @callee(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a : tensor<4x4xf32>
}
// -----
// It may be itself, and any operation may name it.
func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{toy.call of @itself, whose own arena lies in nobody's; inline it first}}
  %a = "toy.call"(%x) {callee = @itself} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// -----
// Nothing unknown of memgraph is carried along.
// expected-error@+1 {{'memgraph.nothing' is not registered}}
func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> attributes {memgraph.plan = #memgraph.nothing<a>} {
  func.return %x : tensor<4xf32>
}
