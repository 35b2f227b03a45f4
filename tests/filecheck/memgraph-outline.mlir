// Loops, branches and calls with tensors are one step each: what they run is a function, whose arena is workspace.
// RUN: memopt-opt --split-input-file --outline %s | filecheck %s --check-prefix=OUTLINE
// RUN: memopt-opt --split-input-file --outline --outline %s -o %t.twice.mlir
// RUN: memopt-opt --split-input-file --outline %s -o %t.once.mlir
// RUN: cmp %t.once.mlir %t.twice.mlir
// RUN: memopt-opt --split-input-file --outline --model=inplace=on --schedule=auto --place=auto --branches --schedule=auto --place=auto --branches --schedule=auto --place=auto --verify-plan %s -o %t.plan.mlir
// RUN: filecheck %s < %t.plan.mlir
// RUN: memopt-opt --split-input-file --verify-plan %t.plan.mlir -o %t.again.mlir
// RUN: cmp %t.plan.mlir %t.again.mlir

// As JAX prints it. A constant comes along, what stays as it is stays outside, and what the loop is given at its start may
// be overwritten by what it carries.
// OUTLINE-LABEL: @while
// OUTLINE: ^bb0(%i: tensor<i32>, %a: tensor<8xf32>, %w: tensor<8xf32>):
// OUTLINE-NEXT: func.call @while_while(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
// OUTLINE: [[M:%[0-9]+]], [[N:%[0-9]+]] = func.call @while_while_1(
// OUTLINE-NEXT: "stablehlo.return"([[M]], [[N]], %w{{(_[0-9]+)?}})
// OUTLINE: func.func private @while_while_1({{.*}}) -> (tensor<i32>, tensor<8xf32>) attributes {{.*}}io = caller
// OUTLINE-NEXT: dense<1> : tensor<i32>
// CHECK-LABEL: @while(
// CHECK: "stablehlo.exponential"(%x) {{.*}}memgraph.offset = {{\[}}[[A:[0-9]+]] : i64]
// CHECK: }) {memgraph.scratch = [#memgraph.scratch<32, {{[0-9]+}}>, #memgraph.scratch<1, {{[0-9]+}}>, #memgraph.scratch<4, {{[0-9]+}}>, #memgraph.scratch<32, {{[0-9]+}}>]
// CHECK-SAME: memgraph.offset = {{\[}}{{[0-9]+}} : i64, [[A]] : i64,
// CHECK: @while_while_1{{.*}}arena = 32
func.func @while(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %e = stablehlo.exponential %x : tensor<8xf32>
  %0:3 = stablehlo.while(%i = %c, %a = %e, %w = %x) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
    cond {
    %2 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %2 = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.exponential %a : tensor<8xf32>
    %4 = stablehlo.add %3, %w : tensor<8xf32>
    stablehlo.return %2, %4, %w : tensor<i32>, tensor<8xf32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
// -----
// What a loop exchanges goes through a function.
// OUTLINE-LABEL: @exchange
// OUTLINE: func.call @exchange_for(%b, %a)
// CHECK-LABEL: @exchange(
// CHECK: memgraph.scratch = [#memgraph.scratch<0, 0>, #memgraph.scratch<16, {{[0-9]+}}>, #memgraph.scratch<16, {{[0-9]+}}>]
func.func @exchange(%x: tensor<4xf32>, %y: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}
// -----
// A branch's end is the result; the larger arena of both is enough. A call is a step, which moves if what it calls may.
// OUTLINE-LABEL: @branches
// OUTLINE: func.call @branches_if(%x)
// OUTLINE-NEXT: "stablehlo.return"
// OUTLINE: "stablehlo.return"(%x)
// CHECK-LABEL: @branches(
// CHECK: }) {memgraph.scratch = [#memgraph.scratch<64, {{[0-9]+}}>], memgraph.order = 0
// CHECK: func.call @callee({{.*}}memgraph.scratch = [#memgraph.scratch<64, {{[0-9]+}}>], memgraph.order = 1
// CHECK: @callee(%x: {{.*}}#memgraph.unplaced<caller>}{{.*}}arena = 64
func.func @branches(%p: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<16xf32>
    %2 = stablehlo.tanh %1 : tensor<16xf32>
    stablehlo.return %2 : tensor<16xf32>
  }, {
    stablehlo.return %x : tensor<16xf32>
  }) : (tensor<i1>) -> tensor<16xf32>
  %3 = call @callee(%0) : (tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}
func.func private @callee(%x: tensor<16xf32>) -> tensor<16xf32> {
  %1 = stablehlo.sine %x : tensor<16xf32>
  %2 = stablehlo.cosine %1 : tensor<16xf32>
  return %2 : tensor<16xf32>
}
// -----
// As mlir-opt prints tosa. A branch in a loop is a function of a function.
// OUTLINE-LABEL: @tosa
// OUTLINE: func.func private @tosa_cond_if
// OUTLINE: func.func private @tosa_while_loop
// OUTLINE: func.func private @tosa_while_loop_1
// OUTLINE: func.call @tosa_cond_if
// CHECK-LABEL: @tosa(
// CHECK: @tosa_cond_if{{.*}}arena = 48
// CHECK: "tosa.cond_if"{{.*}}
// CHECK: }) {memgraph.scratch = [#memgraph.scratch<48, {{[0-9]+}}>]
func.func @tosa(%x: tensor<10xi32>, %n: tensor<i32>) -> tensor<10xi32> {
  %0 = "tosa.const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %1:2 = tosa.while_loop (%i = %0, %a = %x) : (tensor<i32>, tensor<10xi32>) -> (tensor<i32>, tensor<10xi32>) {
    %2 = tosa.greater_equal %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = tosa.logical_not %2 : (tensor<i1>) -> tensor<i1>
    tosa.yield %3 : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<10xi32>):
    %2 = tosa.greater_equal %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = tosa.cond_if %2 -> (tensor<10xi32>) {
      %4 = tosa.reverse %a {axis = 0 : i32} : (tensor<10xi32>) -> tensor<10xi32>
      %5 = tosa.negate %4 : (tensor<10xi32>) -> tensor<10xi32>
      tosa.yield %5 : tensor<10xi32>
    } else {
      tosa.yield %a : tensor<10xi32>
    }
    tosa.yield %i, %3 : tensor<i32>, tensor<10xi32>
  }
  return %1#1 : tensor<10xi32>
}
// -----
// An operation of which nobody knows when it runs its regions keeps them.
// OUTLINE-LABEL: @unknown
// OUTLINE: "stablehlo.reduce"
// OUTLINE-NOT: func.call
func.func @unknown(%x: tensor<4x4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
// A function of another file is called by one that is here: what it makes in a loop has bytes, beside what it reads.
// OUTLINE-LABEL: @outside
// OUTLINE: func.call @outside_while(
// OUTLINE: func.func private @outside_while
// OUTLINE-NEXT: func.call @ext(
// CHECK-LABEL: @outside(
// CHECK: }) {memgraph.scratch = [#memgraph.scratch<0, {{[0-9]+}}>, #memgraph.scratch<64, 64>]
// CHECK-SAME: memgraph.offset = {{\[}}0 : i64]
func.func private @ext(tensor<16xf32>) -> tensor<16xf32>
func.func @outside(%p: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<16xf32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<16xf32>):
    %1 = func.call @ext(%a) : (tensor<16xf32>) -> tensor<16xf32>
    "stablehlo.return"(%1) : (tensor<16xf32>) -> ()
  }) : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
