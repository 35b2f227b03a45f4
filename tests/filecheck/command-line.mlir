// The same three ways: shorthands, -p, and one process after the other.
// RUN: memopt-opt --model=alignment=4 --fuse --schedule=search --place=auto --verify-plan %s -o %t.flags.mlir
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-fuse,memgraph-schedule{method=search},memgraph-place{method=auto},memgraph-verify-plan" %s -o %t.pipeline.mlir
// RUN: memopt-opt --model=alignment=4 --fuse %s | memopt-opt --schedule=search | memopt-opt --place=auto --verify-plan -o %t.pipes.mlir
// RUN: cmp %t.flags.mlir %t.pipeline.mlir
// RUN: cmp %t.flags.mlir %t.pipes.mlir

// As mlir-opt writes a pipeline, and with spaces where a person may write them.
// RUN: memopt-opt -p "builtin.module( memgraph-model { alignment = 4 }, memgraph-fuse, memgraph-schedule{method=search},memgraph-place{method=auto}, memgraph-verify-plan )" %s -o %t.anchored.mlir
// RUN: cmp %t.flags.mlir %t.anchored.mlir
// RUN: memopt-opt -p "memgraph-schedule, memgraph-memory{ banks = a:64@1, b:1K@2 }" %s -o - | filecheck %s --check-prefix=BANKS
// BANKS: #memgraph.memory<b, kind = bank, bytes = {{[0-9]+}}, capacity = 1024, cost = 2,

// Every option has a line of text.
// RUN: memopt-opt --list-passes | filecheck %s --check-prefix=LIST
// LIST: memgraph-schedule
// LIST-NEXT: Choose the order
// LIST-NEXT: method: one of ['auto', {{.*}}] = auto
// LIST-NEXT: how the order is found
// LIST: warm-start: str|None = none
// LIST-NEXT: the method whose order
// The standard pipelines, and why each pass stands where it does.
// LIST: pipeline plan
// LIST-NEXT: From an imported module to a verified plan
// LIST-NEXT: memgraph-model: first
// LIST-NEXT: memgraph-fuse: before the order
// LIST-NEXT: memgraph-schedule: before the places
// LIST-NEXT: memgraph-place: after the order
// LIST-NEXT: memgraph-verify-plan: last
// LIST-NEXT: pipeline source

// Options are spelled as they are written, and the ones that there are named.
// RUN: not memopt-opt -p "memgraph-place{time-limt=3}" %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not memopt-opt -p "memgraph-schedule{method=ilp kill-moves=true}" %s 2>&1 | filecheck %s --check-prefix=METHOD
// RUN: not memopt-opt -p "memgraph-traffic" %s 2>&1 | filecheck %s --check-prefix=NEEDED
// RUN: not memopt-opt -p "func.func(cse)" %s 2>&1 | filecheck %s --check-prefix=NESTED
// UNKNOWN: memopt-opt: error: memgraph-place has no option 'time-limt' (did you mean time-limit?); there are: method, time-limit, solver
// METHOD: error: memgraph-schedule: @main: method 'ilp' has no option 'kill-moves'
// NEEDED: memopt-opt: error: memgraph-traffic requires the option 'on-chip'
// NESTED: memopt-opt: error: cannot read the pipeline 'func.func(cse)'

// Stock xdsl-opt finds the dialect and the passes.
// RUN: xdsl-opt -p memgraph-fuse,memgraph-schedule{method=search},memgraph-place,memgraph-verify-plan{placed=true} %s | filecheck %s --check-prefix=STOCK
// STOCK: memgraph.plan<peak = 32, lower_bound = 32, proof = {{[a-z]+}}, family = order, arena = 32

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
