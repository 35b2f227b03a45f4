// The papers' methods: the same optimum of 192 B (336 B in source order), each with its own proof.
// RUN: memopt-opt --schedule=dp --verify-plan %s | filecheck %s --check-prefixes=CHECK,SEARCH
// RUN: memopt-opt --schedule=liberis --verify-plan %s | filecheck %s --check-prefixes=CHECK,SEARCH
// RUN: memopt-opt --schedule=ilp --verify-plan %s | filecheck %s --check-prefixes=CHECK,PROVEN
// RUN: memopt-opt -p "memgraph-schedule{method=ilp bound=none warm-start=none}" %s | filecheck %s --check-prefixes=CHECK,ILP
// RUN: memopt-opt --schedule=ilp-olla --verify-plan %s | filecheck %s --check-prefixes=CHECK,ILP
// RUN: memopt-opt --fuse --schedule=ilp --time-limit=60 --verify-plan %s | filecheck %s --check-prefixes=CHECK,PROVEN
// Every option, through -p.
// RUN: memopt-opt -p "memgraph-schedule{method=dp divide=false budgets=true width=1 max-states=1000}" %s | filecheck %s --check-prefixes=CHECK,SEARCH
// RUN: memopt-opt -p "memgraph-schedule{method=liberis max-states=1000}" %s | filecheck %s --check-prefixes=CHECK,SEARCH
// RUN: memopt-opt -p "memgraph-schedule{method=ilp solver=highs pruning=false warm-start=rpo bound=flow}" %s | filecheck %s --check-prefixes=CHECK,PROVEN
// RUN: memopt-opt -p "memgraph-schedule{method=ilp-olla solver=highs control=false warm-start=greedy bound=176 seed=1}" %s | filecheck %s --check-prefixes=CHECK,ILP
// RUN: memopt-opt -p "memgraph-schedule{method=search bound=flow}" %s | filecheck %s --check-prefixes=CHECK,PROVEN
// RUN: memopt-opt -p "memgraph-schedule{method=search bound=0 backward=false dominance=false commits=false kill-moves=false}" %s | filecheck %s --check-prefixes=CHECK,PROVEN
// RUN: memopt-opt -p "memgraph-schedule{method=auto fuse=false flow=false local=false backward=false dominance=false max-bytes=1000000}" %s | filecheck %s --check-prefixes=CHECK,PROVEN
// RUN: memopt-opt -p "memgraph-schedule{method=auto segments=true splits=true commits=false kill-moves=false}" %s | filecheck %s --check-prefixes=CHECK,PROVEN
// An integer program that ends open says who may do better.
// RUN: memopt-opt -p "memgraph-schedule{method=ilp bound=none warm-start=none time-limit=0.000001}" %s 2>&1 | filecheck %s --check-prefix=OPEN
// OPEN: note: @branches: ilp ended open with {{[0-9]+}} B, and at least {{[0-9]+}} B are needed; --schedule=auto or --partition=auto may do better
// A search cut short claims nothing.
// RUN: memopt-opt -p "memgraph-schedule{method=search bound=0 max-states=0}" %s | filecheck %s --check-prefix=NONE
// RUN: memopt-opt -p "memgraph-schedule{method=search bound=0 max-bytes=0}" %s | filecheck %s --check-prefix=NONE
// RUN: memopt-opt -p "memgraph-schedule{method=liberis max-states=1}" %s | filecheck %s --check-prefix=NONE
// What a method does not have is refused by name.
// RUN: not memopt-opt -p "memgraph-schedule{method=rpo solver=highs}" %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not memopt-opt -p "memgraph-schedule{method=ilp solver=gurobi}" %s 2>&1 | filecheck %s --check-prefix=SOLVER
// RUN: not memopt-opt -p "memgraph-schedule{method=ilp bound=best}" %s 2>&1 | filecheck %s --check-prefix=BOUND
// RUN: not memopt-opt -p "memgraph-schedule{method=ilp warm-start=magic}" %s 2>&1 | filecheck %s --check-prefix=WARM
// RUN: not memopt-opt -p "memgraph-schedule{method=search bound=best}" %s 2>&1 | filecheck %s --check-prefix=BOUND
// RUN: not memopt-opt -p "memgraph-schedule{method=search max-bytes=-1}" %s 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: not memopt-opt -p "memgraph-schedule{method=dp backward=false}" %s 2>&1 | filecheck %s --check-prefix=BACKWARD
// RUN: not memopt-opt -p "memgraph-schedule{method=auto segments=true fuse=false}" %s 2>&1 | filecheck %s --check-prefix=SEGMENTS
// RUN: not memopt-opt --schedule=auto --time-limit=-1 %s 2>&1 | filecheck %s --check-prefix=PAST
// PAST: memopt-opt: error: --time-limit=-1: seconds, finite and more than 0
// NEGATIVE: error: memgraph-schedule: @branches: max_bytes=-1: it must not be negative
// BACKWARD: error: memgraph-schedule: @branches: method 'dp' has no option 'backward'
// SEGMENTS: error: memgraph-schedule: @branches: segments without fuse
// OPTION: error: memgraph-schedule: @branches: method 'rpo' has no option 'solver'
// SOLVER: error: memgraph-schedule: @branches: unknown solver 'gurobi': one of cp-sat, highs
// BOUND: error: memgraph-schedule: @branches: bound=best: bytes, flow, or none
// WARM: error: memgraph-schedule: @branches: unknown method 'magic'
// NONE: peak = {{[0-9]+}}, lower_bound = {{[0-9]+}}, proof = none

// CHECK-LABEL: @branches
// SEARCH-SAME: peak = 192, lower_bound = 192, proof = search
// PROVEN-SAME: peak = 192, lower_bound = 192, proof = {{(flow|search)}},
// ILP-SAME: peak = 192, lower_bound = 192, proof = ilp
// CHECK: {memgraph.order = 0 : i64}
// CHECK: {memgraph.order = 1 : i64}
// CHECK: {memgraph.order = 2 : i64}
// CHECK: {memgraph.order = 3 : i64}
func.func @branches(%x: tensor<16xi8>) -> (tensor<16xi8>, tensor<16xi8>) {
  %a = memgraph.opaque "wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %b = memgraph.opaque "wide"(%x) : (tensor<16xi8>) -> tensor<160xi8>
  %c = memgraph.opaque "narrow"(%a) : (tensor<160xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "narrow"(%b) : (tensor<160xi8>) -> tensor<16xi8>
  func.return %c, %d : tensor<16xi8>, tensor<16xi8>
}
