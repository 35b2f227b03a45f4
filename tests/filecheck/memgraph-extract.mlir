// RUN: memopt-opt --split-input-file --extract=from=x,to=y %s | filecheck %s
// RUN: memopt-opt --split-input-file -p 'memgraph-extract{from=x to=y}' %s | memopt-opt --split-input-file | filecheck %s
// RUN: memopt-opt --split-input-file --print-op-generic --extract=from=x,to=y %s | memopt-opt --split-input-file | filecheck %s

// What others read of it is a result too; what it reads of others is an argument with its name.
// CHECK-LABEL: @plain
// CHECK-SAME: (%x: tensor<8xf32>, %s: tensor<8xf32> {memgraph.name = "side"}) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-SAME: attributes {kept = "of others", memgraph.model = {{.*}}} {
// CHECK-NEXT: %a = memgraph.logistic %x : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %b = memgraph.mul %x, %s
// CHECK-NEXT: %y = memgraph.add %a, %b
// CHECK-NEXT: func.return %a, %y : tensor<8xf32>, tensor<8xf32>
!t = tensor<8xf32>
func.func @plain(%in: !t, %unread: !t) -> !t attributes {kept = "of others", memgraph.rewrites = [], memgraph.model = #memgraph.model<target = generic, alignment = 4, io = arena, views = on, inplace = off, scratch = none>} {
  %x = memgraph.relu %in : (!t) -> !t
  %s = memgraph.tanh %in {memgraph.names = ["side"]} : (!t) -> !t
  %a = memgraph.logistic %x {memgraph.partition = 0 : i64} : (!t) -> !t
  %aside = memgraph.tanh %x : (!t) -> !t
  %b = memgraph.mul %x, %s : (!t, !t) -> !t
  %y = memgraph.add %a, %b : (!t, !t) -> !t
  %z = memgraph.mul %y, %a : (!t, !t) -> !t
  func.return %z : !t
}

// -----
// Constants come along, and what is computed of them alone; an argument keeps its place and name.
// CHECK-LABEL: @constants
// CHECK-SAME: (%input: tensor<8xf32> {memgraph.name = "x"}, %0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %c = memgraph.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %d = memgraph.tanh %c
// CHECK-NEXT: %e = memgraph.add %input, %d
// CHECK-NEXT: %y = memgraph.add %e, %0
// CHECK-NEXT: func.return %y
!t = tensor<8xf32>
func.func @constants(%before: !t, %input: !t {memgraph.name = "x"}) -> !t {
  %c = memgraph.constant dense<1.0> : !t
  %other = memgraph.constant dense<2.0> : !t
  %d = memgraph.tanh %c : (!t) -> !t
  %e = memgraph.add %input, %d : (!t, !t) -> !t
  %0 = memgraph.add %before, %other : (!t, !t) -> !t
  %y = memgraph.add %e, %0 : (!t, !t) -> !t
  func.return %y : !t
}

// -----
// State that nobody else uses comes along; what is read before and written after is passed through.
// CHECK-LABEL: @state
// CHECK-SAME: (%x: tensor<8xi8>, %h: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>)
// CHECK-NEXT: %v = memgraph.variable "v" : tensor<8xi8>
// CHECK-NEXT: %s = memgraph.opaque "SVDF"(%x, %v)
// CHECK-NEXT: %n = memgraph.add %s, %h
// CHECK-NEXT: %y = memgraph.relu %n
// CHECK-NEXT: func.return %n, %y
!t = tensor<8xi8>
func.func @state(%x: !t) -> !t {
  %v = memgraph.variable "v" : !t
  %g = memgraph.variable "g" : !t
  %h = memgraph.read_variable %g : (!t) -> !t
  %s = memgraph.opaque "SVDF"(%x, %v) : (!t, !t) -> !t
  %n = memgraph.add %s, %h : (!t, !t) -> !t
  memgraph.assign_variable %n, %g : !t, !t
  %y = memgraph.relu %n : (!t) -> !t
  func.return %y : !t
}

// -----
// Of another dialect, whose destination is made of nothing.
// CHECK-LABEL: @destination
// CHECK-SAME: (%w: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: linalg.matmul
// CHECK-NEXT: func.return
!t = tensor<4x4xf32>
func.func @destination(%a: !t, %w: !t) -> !t {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : !t
  %i = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %x = linalg.matmul ins(%a, %w : !t, !t) outs(%i : !t) -> !t
  %f = tensor.empty() : !t
  %j = linalg.fill ins(%zero : f32) outs(%f : !t) -> !t
  %y = linalg.matmul ins(%x, %w : !t, !t) outs(%j : !t) -> !t
  func.return %y : !t
}

// -----
// Functions that an operator runs stay, others go.
// CHECK-LABEL: @main
// CHECK-SAME: (%c: tensor<1xi1>, %x: tensor<4xi8>)
// CHECK-NEXT: %y = memgraph.opaque "IF"(%c, %x)
// CHECK-NEXT: func.return %y
// CHECK: @then
// CHECK: @else
// CHECK-NOT: @once
!t = tensor<4xi8>
func.func @main(%in: !t, %c: tensor<1xi1>) -> !t attributes {memgraph.source = #memgraph.source<0, -1, [0, 1]>} {
  memgraph.opaque "CALL_ONCE"() stateful options {initSubgraphIndex = 3 : i64} : () -> ()
  %x = memgraph.relu %in : (!t) -> !t
  %y = memgraph.opaque "IF"(%c, %x) options {thenSubgraphIndex = 1 : i64, elseSubgraphIndex = 2 : i64} : (tensor<1xi1>, !t) -> !t
  func.return %y : !t
}
func.func @then(%a: !t) -> !t attributes {memgraph.source = #memgraph.source<1, -1, [0]>} {
  %0 = memgraph.relu %a : (!t) -> !t
  func.return %0 : !t
}
func.func @else(%a: !t) -> !t attributes {memgraph.source = #memgraph.source<2, -1, [0]>} {
  func.return %a : !t
}
func.func @once() attributes {memgraph.source = #memgraph.source<3, -1, []>} {
  func.return
}
