// RUN: not memopt-opt --split-input-file --allow-unregistered-dialect --extract=from=x,to=y %s 2>&1 | filecheck %s
// RUN: not memopt-opt --extract=x:y %s 2>&1 | filecheck %s --check-prefix=FORM
// FORM: --extract=x:y: expected from=X,to=Y; more of them, and other names, go through -p
// RUN: not memopt-opt -p 'memgraph-extract{from=x}' %s 2>&1 | filecheck %s --check-prefix=REQUIRED
// REQUIRED: memgraph-extract requires the option 'to'
// RUN: not memopt-opt -p 'memgraph-extract{form=x to=y}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: memgraph-extract has no option 'form' (did you mean from?); there are: from, to

// CHECK: @unknown: error: memgraph-extract: 'x' is no tensor
!t = tensor<8xf32>
func.func @unknown(%in: !t) -> !t {
  %y = memgraph.relu %in : (!t) -> !t
  func.return %y : !t
}

// -----
// CHECK: @two: error: memgraph-extract: 'y' is what 2 tensors are called
!t = tensor<8xf32>
func.func @two(%x: !t) -> !t {
  %y = memgraph.relu %x : (!t) -> !t
  %z = memgraph.tanh %y {memgraph.names = ["y"]} : (!t) -> !t
  func.return %z : !t
}

// -----
// CHECK: @constant: error: memgraph-extract: x does not depend on what a run is given
!t = tensor<8xf32>
func.func @constant(%in: !t) -> !t {
  %x = memgraph.constant dense<1.0> : !t
  %y = memgraph.add %x, %in : (!t, !t) -> !t
  func.return %y : !t
}

// -----
// CHECK: @apart: error: memgraph-extract: no way leads from x to y
!t = tensor<8xf32>
func.func @apart(%x: !t, %in: !t) -> (!t, !t) {
  %y = memgraph.relu %in : (!t) -> !t
  %z = memgraph.relu %x : (!t) -> !t
  func.return %y, %z : !t, !t
}

// -----
// CHECK: error: memgraph-extract: rows and hyper-nodes are not taken apart; extract before --rows and --fuse
!t = tensor<8xf32>
func.func @fused(%x: !t) -> !t {
  %a = memgraph.fused (%b = %x : !t) -> !t {
    %c = memgraph.relu %b : (!t) -> !t
    memgraph.yield %c : !t
  }
  %y = memgraph.relu %a : (!t) -> !t
  func.return %y : !t
}

// -----
// CHECK: error: memgraph-extract: other.loop (a) has regions that nothing moves across
!t = tensor<8xf32>
func.func @region(%x: !t) -> !t {
  %a = "other.loop"(%x) ({
    "other.end"() : () -> ()
  }) : (!t) -> !t
  %y = memgraph.relu %a : (!t) -> !t
  func.return %y : !t
}

// -----
// CHECK: error: memgraph-extract: linalg.matmul (y) overwrites i, made outside
!t = tensor<4x4xf32>
func.func @destination(%x: !t, %w: !t) -> !t {
  %i = memgraph.relu %w : (!t) -> !t
  %y = linalg.matmul ins(%x, %w : !t, !t) outs(%i : !t) -> !t
  func.return %y : !t
}

// -----
// CHECK: error: memgraph-extract: D (y) overwrites b, which stays, as results do
!t = tensor<8xi8>
func.func @stays(%in: !t) -> (!t, !t) {
  %x = memgraph.opaque "A"(%in) : (!t) -> !t
  %b = memgraph.opaque "B"(%x) : (!t) -> !t
  %e = memgraph.opaque "E"(%b) : (!t) -> !t
  %y = memgraph.opaque "D"(%b) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (!t) -> !t
  func.return %y, %e : !t, !t
}

// -----
// CHECK: error: memgraph-extract: A (y) shares its effects with B (b), which is outside
!t = tensor<8xf32>
func.func @effects(%x: !t) -> (!t, !t) {
  %y = memgraph.opaque "A"(%x) stateful : (!t) -> !t
  %b = memgraph.opaque "B"(%y) stateful : (!t) -> !t
  func.return %y, %b : !t, !t
}

// -----
// CHECK: error: memgraph-extract: variable (v) shares its state with SVDF (z), which is outside
!t = tensor<8xi8>
func.func @state(%x: !t) -> (!t, !t) {
  %v = memgraph.variable "v" : !t
  %y = memgraph.opaque "SVDF"(%x, %v) : (!t, !t) -> !t
  %z = memgraph.opaque "SVDF"(%y, %v) : (!t, !t) -> !t
  func.return %y, %z : !t, !t
}

// -----
// CHECK: error: memgraph-extract: channels were left out by what others hold; extract before --rewrite
!t = tensor<1x1x1x3xi8, #memgraph.encoding<nhwc, scale = [1.0], zero_point = [0]>>
func.func @channels(%x: !t) -> !t {
  %y = memgraph.relu %x rounding<tflm_double> {memgraph.channels = [#memgraph.channels<4, left_out = [1 [11, 11] constant_inputs]>]} : (!t) -> !t
  func.return %y : !t
}
