// Allocations of bufferized functions in one arena, and the plan as attributes, read again.
// RUN: memopt-opt --split-input-file --plan-memrefs=fixed %s | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-plan-memrefs{replace=false}" %s -o %t.plan.mlir
// RUN: memopt-opt --split-input-file %t.plan.mlir | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt --split-input-file --plan-memrefs=fixed %s -o %t.once.mlir
// RUN: memopt-opt --split-input-file --plan-memrefs=fixed %t.plan.mlir -o %t.twice.mlir
// RUN: cmp %t.once.mlir %t.twice.mlir

// A view keeps its allocation alive; a deallocation says nothing and goes.
// CHECK-LABEL: func.func @views
// CHECK-NEXT: %0 = memref.alloc() {alignment = 64 : i64} : memref<192xi8>
// CHECK-NOT: memref.dealloc %a
// CHECK: memref.dealloc %0 : memref<192xi8>
// PLAN: @views{{.*}}peak = 192, lower_bound = 192, proof = flow{{.*}}arena = 192
// PLAN: %a = memref.alloc() {alignment = 64 : i64, memgraph.offset = [[[A:[0-9]+]] : i64]}
func.func @views(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  %a = memref.alloc() {alignment = 64 : i64} : memref<4x4xf32>
  linalg.add ins(%x, %x : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  %v = memref.collapse_shape %a [[0 : i64, 1 : i64]] : memref<4x4xf32> into memref<16xf32>
  %b = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  linalg.exp ins(%v : memref<16xf32>) outs(%b : memref<16xf32>)
  %c = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
  linalg.add ins(%v, %b : memref<16xf32>, memref<16xf32>) outs(%c : memref<16xf32>)
  %w = memref.expand_shape %c [[0 : i64, 1 : i64]] output_shape [4, 4] : memref<16xf32> into memref<4x4xf32>
  "memref.copy"(%w, %y) : (memref<4x4xf32>, memref<4x4xf32>) -> ()
  memref.dealloc %a : memref<4x4xf32>
  memref.dealloc %c : memref<16xf32>
  func.return
}

// -----
// Branches lie over each other; what a branch gives lives on behind it.
// PLAN: @branches{{.*}}arena = 160
func.func @branches(%c: i1, %x: memref<16xf32>, %y: memref<16xf32>) {
  %r = scf.if %c -> (memref<16xf32>) {
    %a = memref.alloc() : memref<16xf32>
    %t = memref.alloc() : memref<8xf32>
    %s = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
    "memref.copy"(%s, %t) : (memref<8xf32, strided<[1]>>, memref<8xf32>) -> ()
    linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
    scf.yield %a : memref<16xf32>
  } else {
    %b = memref.alloc() : memref<16xf32>
    %t = memref.alloc() : memref<8xf32>
    %s = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
    "memref.copy"(%s, %t) : (memref<8xf32, strided<[1]>>, memref<8xf32>) -> ()
    linalg.log ins(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    scf.yield %b : memref<16xf32>
  }
  "memref.copy"(%r, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}

// -----
// A loop's own allocation lives in one iteration, under all that the loop touches.
// PLAN: @loop{{.*}}arena = 128
func.func @loop(%n: index, %x: memref<16xf32>, %y: memref<16xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  "memref.copy"(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  scf.for %i = %zero to %n step %one {
    %t = memref.alloc() : memref<16xf32>
    linalg.exp ins(%a : memref<16xf32>) outs(%t : memref<16xf32>)
    linalg.add ins(%t, %y : memref<16xf32>, memref<16xf32>) outs(%y : memref<16xf32>)
  }
  func.return
}

// -----
// An allocation that is carried beside the next one takes turns with it.
// CHECK-LABEL: func.func @turns
// CHECK: iter_args(%a = %x, %t = {{%[0-9]+}}, [[Q:%[0-9]+]] = {{%[0-9]+}})
// CHECK: linalg.exp ins(%a : memref<16xf32>) outs(%t : memref<16xf32>)
// CHECK-NEXT: scf.yield %t, [[Q]], %t
// PLAN: @turns{{.*}}arena = 128
// PLAN: memgraph.turns = 2
func.func @turns(%n: index, %x: memref<16xf32>, %y: memref<16xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (memref<16xf32>) {
    %t = memref.alloc() : memref<16xf32>
    linalg.exp ins(%a : memref<16xf32>) outs(%t : memref<16xf32>)
    scf.yield %t : memref<16xf32>
  }
  "memref.copy"(%r, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}

// -----
// A callee works in its caller's arena.
// CHECK-LABEL: func.func private @callee(%0: memref<64xi8>, %x: memref<16xf32>)
// CHECK-LABEL: func.func @caller
// CHECK: [[FRAME:%[0-9]+]] = memref.view %0[{{%[0-9]+}}][] : memref<128xi8> to memref<64xi8>
// CHECK: func.call @callee([[FRAME]], %a) : (memref<64xi8>, memref<16xf32>) -> ()
// PLAN: func.call @callee(%a) {memgraph.scratch = [#memgraph.scratch<64, {{(0|64)}}>]}
func.func private @callee(%x: memref<16xf32>) {
  %t = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%t : memref<16xf32>)
  "memref.copy"(%t, %x) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
func.func @caller(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  "memref.copy"(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  func.call @callee(%a) : (memref<16xf32>) -> ()
  "memref.copy"(%a, %y) : (memref<16xf32>, memref<16xf32>) -> ()
  func.return
}
