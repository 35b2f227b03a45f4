// RUN: memopt-opt --partition=auto --model=alignment=1 %s 2>/dev/null | filecheck %s --check-prefix=CUT
// RUN: memopt-opt -p "memgraph-partition{k=auto method=naive}" %s | filecheck %s --check-prefix=NAMED
// RUN: memopt-opt --model=alignment=1 --schedule=auto --place=auto --verify-plan %s 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=NOTE < %t.err
// RUN: memopt-opt --model=alignment=1 --schedule=auto --print-op-generic %s 2>/dev/null | memopt-opt --schedule=auto --verify-plan | filecheck %s
// RUN: sed s/memgraph.automatic_partition/some/ %s | memopt-opt --model=alignment=1 --schedule=auto --verify-plan | filecheck %s --check-prefix=KEPT
// RUN: memopt-opt --model=alignment=1 --schedule=ilp --verify-plan %s | filecheck %s --check-prefix=KEPT
// RUN: sed "s/memgraph.automatic_partition/& = 1 : i64/" %s | not memopt-opt --model=alignment=1 --schedule=ilp --verify-plan 2>&1 | filecheck %s --check-prefix=VALUE
// VALUE: error: memgraph.automatic_partition has no value

// Parts that nobody asked for give way to a better order of the whole; others stay.
// CUT: @parts{{.*}} memgraph.automatic_partition
// CUT: "wide"(%a) {memgraph.partition = 0 : i64}
// CUT: "narrow"() {memgraph.partition = 0 : i64}
// NAMED-NOT: memgraph.automatic_partition
// CHECK: @parts
// CHECK-NOT: memgraph.automatic_partition
// CHECK: peak = 11, lower_bound = 11
// CHECK-NOT: memgraph.partition
// NOTE: note: @parts: memgraph-schedule drops the automatic partition for an order of the whole of 11 B
// KEPT: peak = 20, lower_bound = 11, proof = none
// KEPT: "narrow"() {memgraph.partition = 0 : i64
// KEPT: "wide"(%a) {memgraph.partition = 1 : i64
func.func @parts(%a: tensor<10xi8>) -> (tensor<1xi8>, tensor<9xi8>) attributes {memgraph.automatic_partition} {
  %b = memgraph.opaque "wide"(%a) {memgraph.partition = 1 : i64} : (tensor<10xi8>) -> tensor<1xi8>
  %c = memgraph.opaque "narrow"() {memgraph.partition = 0 : i64} : () -> tensor<9xi8>
  func.return %b, %c : tensor<1xi8>, tensor<9xi8>
}
