// Liberis, "Neural networks on microcontrollers: saving memory at inference via operator
// reordering", Figure 1 and Appendix A: 5,216 B in source order, 4,960 B at best.
// RUN: memopt-opt --fuse --schedule=ilp %s | filecheck %s
// RUN: memopt-opt --fuse --schedule=search --verify-plan --stats=json %s 2>&1 >%t.mlir | filecheck %s --check-prefix=SEARCH
// RUN: memopt-opt --schedule=source --verify-plan %s | filecheck %s --check-prefix=SOURCE
// RUN: memopt-opt --fuse --schedule=auto %s | memopt-opt --place=auto --verify-plan | filecheck %s --check-prefix=PLACED

// CHECK: memgraph.plan<peak = 4960, lower_bound = 4960, proof = {{(ilp|flow|search)}}, family = order, fingerprint
// CHECK-NEXT: memgraph.opaque "op1"(%x) {memgraph.order = 0 : i64}
// CHECK-NEXT: memgraph.opaque "op4"(%{{.*}}) {memgraph.order = 1 : i64}
// CHECK-NEXT: memgraph.opaque "op6"(%{{.*}}) {memgraph.order = 2 : i64}
// CHECK-NEXT: memgraph.opaque "op2"(%{{.*}}) {memgraph.order = 3 : i64}
// CHECK-NEXT: memgraph.opaque "op3"(%{{.*}}) {memgraph.order = 4 : i64}
// CHECK-NEXT: memgraph.opaque "op5"(%{{.*}}) {memgraph.order = 5 : i64}
// CHECK-NEXT: memgraph.opaque "op7"(%{{.*}}) {memgraph.order = 6 : i64}

// SEARCH: {"pass": "memgraph-fuse", "function": "main", "operators": {{[1-6]}}, "peak": {{4960|5216}},
// SEARCH: {"pass": "memgraph-schedule", "function": "main", "operators": 7, "peak": 4960, "lower_bound": 4960, "proof": "{{(flow|search)}}", "optimal": true, "arena": null,
// SEARCH: {"pass": "memgraph-verify-plan",

// SOURCE: memgraph.plan<peak = 5216, lower_bound = {{[0-9]+}}, proof =
// SOURCE-NEXT: "op1"
// SOURCE-NEXT: "op2"
// SOURCE-NEXT: "op3"
// SOURCE-NEXT: "op4"

// PLACED: peak = 4960, lower_bound = 4960, proof = {{.*}}, arena = 4960, arena_lower_bound = 4960
func.func @main(%x: tensor<1568xi8>) -> tensor<512xi8> attributes {memgraph.model = #memgraph.model<alignment = 1>} {
  %1 = memgraph.opaque "op1"(%x) : (tensor<1568xi8>) -> tensor<3136xi8>
  %2 = memgraph.opaque "op2"(%1) : (tensor<3136xi8>) -> tensor<1568xi8>
  %3 = memgraph.opaque "op3"(%2) : (tensor<1568xi8>) -> tensor<512xi8>
  %4 = memgraph.opaque "op4"(%1) : (tensor<3136xi8>) -> tensor<512xi8>
  %5 = memgraph.opaque "op5"(%3) : (tensor<512xi8>) -> tensor<256xi8>
  %6 = memgraph.opaque "op6"(%4) : (tensor<512xi8>) -> tensor<256xi8>
  %7 = memgraph.opaque "op7"(%5, %6) : (tensor<256xi8>, tensor<256xi8>) -> tensor<512xi8>
  func.return %7 : tensor<512xi8>
}
