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
  // expected-error@+1 {{scf.if has the buffer i in a region, which is not planned; run --outline first}}
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
  // expected-error@+1 {{scf.for has the buffer c in a region, which is not planned; run --outline first}}
  %b = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (tensor<16xi8>) {
    %c = memgraph.opaque "inner"(%a) : (tensor<16xi8>) -> tensor<16xi8>
    scf.yield %c : tensor<16xi8>
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
// What hands on its condition's values, or whose regions are not known to be a loop or a branch, is not followed.
func.func @while(%x: tensor<16xi8>, %n: i1) {
  // expected-error@+1 {{scf.while has the buffer a in a region, which is not planned}}
  %b = scf.while (%a = %x) : (tensor<16xi8>) -> (tensor<16xi8>) {
    scf.condition(%n) %a : tensor<16xi8>
  } do {
  ^bb0(%c: tensor<16xi8>):
    scf.yield %c : tensor<16xi8>
  }
  func.return
}
// -----
// A loop that exchanges what it carries would overwrite one before it is read; two calls have a tensor between them.
func.func @exchange(%x: tensor<16xi8>, %n: index) {
  // expected-error@+1 {{scf.for carries b to another place; run --outline first}}
  %r, %s = scf.for %i = %n to %n step %n iter_args(%a = %x, %b = %x) -> (tensor<16xi8>, tensor<16xi8>) {
    scf.yield %b, %a : tensor<16xi8>, tensor<16xi8>
  }
  func.return
}
// -----
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  func.return %x : tensor<4xf32>
}
func.func @twice(%x: tensor<4xf32>, %c: i1) {
  // expected-error@+1 {{a region of scf.if calls 2 functions; run --outline first}}
  %r = scf.if %c -> (tensor<4xf32>) {
    %a = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %b = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  func.return
}
// -----
// A function that runs itself has no one arena.
func.func @itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{func.call runs @itself, which it is in, so it has no one arena}}
  %a = func.call @itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
// -----
// Any other operation may name a function.
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
// -----
// What is called in a region and is not here may have effects, which the step would be without, and bytes.
func.func private @log(tensor<4xf32>)
func.func @of_another_file(%x: tensor<4xf32>, %c: i1) {
  // expected-error@+1 {{a region of scf.if calls @log, of which no body is here; run --outline first}}
  scf.if %c {
    func.call @log(%x) : (tensor<4xf32>) -> ()
  }
  func.return
}
