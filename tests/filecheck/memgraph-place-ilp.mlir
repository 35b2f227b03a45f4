// OLLA's program on both solvers, with all pairs stated, and around a pyramid; TFLite's greedy, which
// does not know the future, needs more.
// RUN: memopt-opt --place=ilp --verify-plan %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt -p "memgraph-place{method=ilp solver=highs pruning=false},memgraph-verify-plan" %s | filecheck %s --check-prefixes=CHECK,BEST
// RUN: memopt-opt -p "memgraph-place{method=ilp pyramid=true},memgraph-verify-plan" %s | filecheck %s
// RUN: memopt-opt --place=tflite --verify-plan %s | filecheck %s --check-prefixes=CHECK,TFLITE
// RUN: not memopt-opt -p "memgraph-place{method=best-fit pyramid=true}" %s 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: memgraph-place: @holes: best-fit has no option 'pyramid'
// RUN: not memopt-opt -p "memgraph-place{method=joint solver=highs}" %s 2>&1 | filecheck %s --check-prefix=JOINT
// JOINT: memgraph-place: joint has no option 'solver'
// RUN: not memopt-opt -p "memgraph-place{method=ilp solver=gurobi}" %s 2>&1 | filecheck %s --check-prefix=SOLVER
// SOLVER: memgraph-place: @holes: unknown solver 'gurobi': one of cp-sat, highs

// %a ends under %b, so a larger %c goes on top of both where nobody thought of it before.
// CHECK-LABEL: @holes
// BEST-SAME: peak = 36
// BEST-SAME: arena = 36
// TFLITE-SAME: arena = 52
func.func @holes(%x: tensor<4xi8>) -> tensor<20xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %a = memgraph.opaque "A"(%x) : (tensor<4xi8>) -> tensor<12xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<12xi8>) -> tensor<16xi8>
  %c = memgraph.opaque "C"(%b) : (tensor<16xi8>) -> tensor<20xi8>
  func.return %c : tensor<20xi8>
}
