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
// -----
func.func @outside(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{stablehlo.slice: a part of [4, 8] from [6, 0] is not in [8, 8]}}
  %b = "stablehlo.slice"(%x) {start_indices = array<i64: 6, 0>, limit_indices = array<i64: 10, 8>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return
}
// -----
func.func @dimensions(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{stablehlo.transpose orders dimensions [0, 2], but its operand has 2}}
  %b = "stablehlo.transpose"(%x) {permutation = array<i64: 0, 2>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return
}
// -----
func.func @aliases(%x: tensor<8xf32>) {
  // expected-error@+1 {{stablehlo.custom_call: result 0 aliases operand 7, of which one is not there}}
  %b = "stablehlo.custom_call"(%x) {call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 7, operand_tuple_indices = []>]} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}
// -----
func.func @axes(%x: tensor<8x8xf32>) {
  %s = "onnx.Constant"() {value = dense<1> : tensor<2xi64>} : () -> tensor<2xi64>
  %a = "onnx.Constant"() {value = dense<5> : tensor<1xi64>} : () -> tensor<1xi64>
  // expected-error@+1 {{onnx.Slice has 2 starts for axes [5] of 2}}
  %b = "onnx.Slice"(%x, %s, %s, %a) : (tensor<8x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<1xi64>) -> tensor<4x8xf32>
  func.return
}
// -----
func.func @split(%x: tensor<8xf32>) {
  // expected-error@+1 {{onnx.Split has no axis 3}}
  %b = "onnx.Split"(%x) {axis = 3 : si64} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}
