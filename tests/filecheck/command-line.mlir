// The same three ways: shorthands, -p, and one process after the other.
// RUN: memopt-opt --model=alignment=4 --fuse --schedule=search --place=auto --verify-plan %s -o %t.flags.mlir
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-fuse,memgraph-schedule{method=search},memgraph-place{method=auto},memgraph-verify-plan" %s -o %t.pipeline.mlir
// RUN: memopt-opt --model=alignment=4 --fuse %s | memopt-opt --schedule=search | memopt-opt --place=auto --verify-plan -o %t.pipes.mlir
// RUN: cmp %t.flags.mlir %t.pipeline.mlir
// RUN: cmp %t.flags.mlir %t.pipes.mlir

// Stock xdsl-opt finds the dialect and the passes.
// RUN: xdsl-opt -p memgraph-fuse,memgraph-schedule{method=search},memgraph-place,memgraph-verify-plan{placed=true} %s | filecheck %s --check-prefix=STOCK
// STOCK: memgraph.plan<peak = 32, lower_bound = 32, proof = {{[a-z]+}}, arena = 32

// What is shown goes to stderr, so that stdout stays IR.
// RUN: memopt-opt --schedule=source --print-ir-before-all --print-ir-after-all --time-passes --stats=json %s 2>%t.err | memopt-opt --verify-plan | filecheck %s --check-prefix=CLEAN
// RUN: filecheck %s --check-prefix=SHOWN < %t.err
// CLEAN: builtin.module {
// CLEAN-NEXT: func.func @main
// SHOWN: // IR before memgraph-schedule
// SHOWN: s  memgraph-schedule
// SHOWN: {"pass": "memgraph-schedule", "function": "main", "operators": 2, "peak": 32,
// SHOWN: // IR after memgraph-schedule

// An error has a place and leaves stdout empty.
// RUN: not memopt-opt --verify-plan %s 2>&1 | filecheck %s --check-prefix=ERROR
// ERROR: command-line.mlir: @main: error: the function has no plan; run --schedule and --place first
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<16xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<16xi8>) -> tensor<8xi8>
  func.return %b : tensor<8xi8>
}
