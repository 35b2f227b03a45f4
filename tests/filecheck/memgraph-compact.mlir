// RUN: memopt-opt --split-input-file -p "memgraph-schedule{method=source},memgraph-place,memgraph-compact,memgraph-verify-plan{placed=true}" %s 2>%t.note | filecheck %s
// RUN: cat %t.note | filecheck %s --check-prefix=NOTE
// NOTE: note: @gap: 1 moves of 16 B: arena 144 -> 128 B
// NOTE: note: @virtual: 1 moves of 16 B: arena 144 -> 128 B
// NOTE-NOT: note
// What is printed is read again; another plan takes the moves out.
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{method=source},memgraph-place,memgraph-compact" %s | memopt-opt --split-input-file -p "memgraph-compact,memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{method=source},memgraph-place,memgraph-compact,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=AGAIN
// RUN: memopt-opt --split-input-file -p "memgraph-schedule{method=source},memgraph-place,memgraph-compact,memgraph-schedule,memgraph-verify-plan" %s | filecheck %s --check-prefix=AGAIN
// AGAIN-LABEL: @gap
// AGAIN-NOT: memgraph.copy

// No places are as few bytes as the peak: one byte in sixteen moves to where another buffer died.
// CHECK-LABEL: @gap
// CHECK-SAME: peak = 128, lower_bound = 128, proof = flow, family = order, arena = 128, arena_lower_bound = 128
// CHECK: [[B:%b.*]], [[M:%b.*]] = memgraph.opaque "S2"
// CHECK: memgraph.opaque "S3"
// CHECK-NEXT: [[C:%.*]] = memgraph.copy [[M]] {{.*}}memgraph.alias = {{\[\[}}#memgraph.alias<operand = 0, kind = move>]]{{.*}}memgraph.order = 4 : i64
// CHECK-NEXT: memgraph.opaque "S4"(%{{.*}}, [[C]], %{{.*}}) {memgraph.order = 5 : i64
func.func @gap() {
  %b0, %b1, %b2 = memgraph.opaque "S0"() : () -> (tensor<48xi8>, tensor<32xi8>, tensor<48xi8>)
  %b3, %b4 = memgraph.opaque "S1"(%b2) : (tensor<48xi8>) -> (tensor<64xi8>, tensor<16xi8>)
  %b5, %b7 = memgraph.opaque "S2"(%b3) : (tensor<64xi8>) -> (tensor<16xi8>, tensor<16xi8>)
  %b6, %b8 = memgraph.opaque "S3"(%b4, %b5) : (tensor<16xi8>, tensor<16xi8>) -> (tensor<32xi8>, tensor<48xi8>)
  %b9 = memgraph.opaque "S4"(%b6, %b7, %b8) : (tensor<32xi8>, tensor<16xi8>, tensor<48xi8>) -> tensor<32xi8>
  func.return
}

// -----
// Where the arena is the peak nothing changes.
// CHECK-LABEL: @full
// CHECK-NOT: memgraph.copy
func.func @full(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = memgraph.relu %x : (tensor<16xi8>) -> tensor<16xi8>
  func.return %a : tensor<16xi8>
}

// -----
// What a virtual tensor shows stays where it is made; another buffer moves.
// CHECK-LABEL: @virtual
// CHECK: %b3, %b4 = memgraph.opaque "S1"
// CHECK: memgraph.copy %b4
// CHECK-NOT: memgraph.copy
// AGAIN-LABEL: @virtual
// AGAIN-NOT: memgraph.copy
func.func @virtual() {
  %b0, %b1, %b2 = memgraph.opaque "S0"() : () -> (tensor<48xi8>, tensor<32xi8>, tensor<48xi8>)
  %b3, %b4 = memgraph.opaque "S1"(%b2) : (tensor<48xi8>) -> (tensor<64xi8>, tensor<16xi8>)
  %b5, %b7 = memgraph.opaque "S2"(%b3) : (tensor<64xi8>) -> (tensor<16xi8>, tensor<16xi8>)
  %v = memgraph.concat %b7, %b7 axis 0 {memgraph.names = ["v"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>, #memgraph.alias<operand = 1, kind = virtual>]]} : (tensor<16xi8>, tensor<16xi8>) -> tensor<32xi8>
  %b6, %b8 = memgraph.opaque "S3"(%b4, %b5) : (tensor<16xi8>, tensor<16xi8>) -> (tensor<32xi8>, tensor<48xi8>)
  %b9 = memgraph.opaque "S4"(%b6, %v, %b8) : (tensor<32xi8>, tensor<32xi8>, tensor<48xi8>) -> tensor<32xi8>
  func.return
}
