// Functions of other dialects are planned too, with careful defaults (docs/reference/memgraph.md).
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect --schedule=auto --place=auto %s -o %t.mlir
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect --verify-plan %t.mlir | filecheck %s
// RUN: memopt-opt --split-input-file --allow-unregistered-dialect -p "memgraph-schedule{assume-pure=true}" %s | filecheck %s --check-prefix=PURE

// Destination-passing results lie where their init lies; tensor.empty is no buffer.
// CHECK-LABEL: @destination
// CHECK-SAME: peak = 192, lower_bound = 192
// CHECK: %e = tensor.empty()
// CHECK: linalg.fill {memgraph.order = 0 : i64, memgraph.offset = {{\[}}[[F:[0-9]+]] : i64]}
// CHECK: linalg.matmul {memgraph.order = 1 : i64, memgraph.offset = {{\[}}[[F]] : i64]}
// CHECK: linalg.add {{.*}}memgraph.order = 2 : i64
func.func @destination(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %c = arith.constant 0.0 : f32
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %a = linalg.add ins(%m, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a : tensor<4x4xf32>
}
// -----
// A function's argument as an init is overwritten; all its other readers come before.
// CHECK-LABEL: @argument_as_init
// CHECK-SAME: %y: tensor<4x4xf32> {memgraph.offset = [[Y:[0-9]+]] : i64})
// CHECK: linalg.add {{.*}}memgraph.order = 0 : i64
// CHECK: linalg.matmul {memgraph.order = 1 : i64, memgraph.offset = {{\[}}[[Y]] : i64]}
func.func @argument_as_init(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %a = linalg.add ins(%y, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %a, %m : tensor<4x4xf32>, tensor<4x4xf32>
}
// -----
// What nobody knows keeps its mutual order, unless it is said to be pure.
// CHECK-LABEL: @unregistered
// CHECK-SAME: peak = 336
// CHECK-NEXT: "other.wide"(%x) {memgraph.order = 0 : i64
// CHECK-NEXT: "other.wide"(%x) {memgraph.order = 1 : i64
// CHECK-NEXT: "other.narrow"
// CHECK-NEXT: "other.narrow"
// PURE-LABEL: @unregistered
// PURE-SAME: peak = 192
// PURE-NEXT: "other.wide"(%x) {memgraph.order = 0 : i64
// PURE-NEXT: "other.narrow"(%{{.*}}) {memgraph.order = 1 : i64
// PURE-NEXT: "other.wide"(%x) {memgraph.order = 2 : i64
func.func @unregistered(%x: tensor<16xi8>) -> (tensor<16xi8>, tensor<16xi8>) {
  %a = "other.wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %b = "other.wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %c = "other.narrow"(%a) : (tensor<160xi8>) -> tensor<16xi8>
  %d = "other.narrow"(%b) : (tensor<160xi8>) -> tensor<16xi8>
  func.return %c, %d : tensor<16xi8>, tensor<16xi8>
}
// -----
// Stateful operators keep their order; pure ones move between them.
// CHECK-LABEL: @stateful
// CHECK-NEXT: "wide"(%x) stateful
// CHECK-NEXT: "narrow"
// CHECK-NEXT: "wide"(%x) stateful
// CHECK-NEXT: "narrow"
func.func @stateful(%x: tensor<16xi8>) -> (tensor<16xi8>, tensor<16xi8>) {
  %a = memgraph.opaque "wide"(%x) stateful : (tensor<16xi8>) -> tensor<160xi8>
  %b = memgraph.opaque "wide"(%x) stateful : (tensor<16xi8>) -> tensor<160xi8>
  %c = memgraph.opaque "narrow"(%a) : (tensor<160xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "narrow"(%b) : (tensor<160xi8>) -> tensor<16xi8>
  func.return %c, %d : tensor<16xi8>, tensor<16xi8>
}
// -----
// Users of one variable keep their order; users of another do not care.
// CHECK-LABEL: @variables
// CHECK: "update"(%s, %x)
// CHECK: "narrow"
// CHECK: "update"(%s, %x)
// CHECK: "narrow"
func.func @variables(%x: tensor<16xi8>) -> (tensor<16xi8>, tensor<16xi8>) {
  %s = memgraph.variable "s" : tensor<4xi8>
  %a = memgraph.opaque "update"(%s, %x) : (tensor<4xi8>, tensor<16xi8>) -> tensor<160xi8>
  %b = memgraph.opaque "update"(%s, %x) : (tensor<4xi8>, tensor<16xi8>) -> tensor<160xi8>
  %c = memgraph.opaque "narrow"(%a) : (tensor<160xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "narrow"(%b) : (tensor<160xi8>) -> tensor<16xi8>
  func.return %c, %d : tensor<16xi8>, tensor<16xi8>
}
// -----
// Nothing passes an operation with a region; what it captures is read by it.
// CHECK-LABEL: @barrier
// CHECK: %a = memgraph.opaque "wide"(%x) {memgraph.order = 0 : i64
// CHECK: scf.if
// CHECK-NEXT: "print"(%a) : (tensor<160xi8>) -> ()
// CHECK: %b = memgraph.opaque "wide"(%x)
// PURE-LABEL: @barrier
// PURE: %a = memgraph.opaque "wide"(%x) {memgraph.order = 0 : i64
// PURE: scf.if
// PURE: %b = memgraph.opaque "wide"(%x)
func.func @barrier(%x: tensor<16xi8>, %n: i1) -> (tensor<16xi8>, tensor<16xi8>) {
  %a = memgraph.opaque "wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  scf.if %n {
    memgraph.opaque "print"(%a) : (tensor<160xi8>) -> ()
    scf.yield
  }
  %b = memgraph.opaque "wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %c = memgraph.opaque "narrow"(%a) : (tensor<160xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "narrow"(%b) : (tensor<160xi8>) -> tensor<16xi8>
  func.return %c, %d : tensor<16xi8>, tensor<16xi8>
}
// -----
// Views of the tensor dialect cost nothing.
// CHECK-LABEL: @foreign_view
// CHECK-SAME: peak = 32
// CHECK-NOT: memgraph.order
// CHECK: tensor.expand_shape
// CHECK: "other.use"(%{{.*}}) {memgraph.order = 0 : i64
func.func @foreign_view(%x: tensor<16xi8>) -> tensor<16xi8> {
  %v = "tensor.expand_shape"(%x) <{reassociation = [[0 : i64, 1 : i64]], static_output_shape = array<i64: 4, 4>}> : (tensor<16xi8>) -> tensor<4x4xi8>
  %a = "other.use"(%v) : (tensor<4x4xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}
