// What is moved off the chip is counted of a function without moves: it goes with them, and stays else.
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-traffic{on-chip=96},memgraph-memory{banks=fast:96@1,slow:1K@4},memgraph-verify-plan" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-traffic{on-chip=96},memgraph-memory{banks=fast:96@1,slow:1K@4 spill=false},memgraph-verify-plan" %s | filecheck %s --check-prefix=STAYS
// CHECK-LABEL: @spill
// CHECK-NOT: memgraph.off_chip
// CHECK: memgraph.copy
// STAYS-LABEL: @spill
// STAYS-SAME: memgraph.off_chip = #memgraph.off_chip<on_chip = 96
// STAYS-NOT: memgraph.copy
func.func @spill(%x: tensor<16xi8>) -> tensor<16xi8> {
  %t = memgraph.opaque "T"(%x) : (tensor<16xi8>) -> tensor<64xi8>
  %u = memgraph.opaque "U"(%x) : (tensor<16xi8>) -> tensor<80xi8>
  %v0 = memgraph.opaque "V"(%u) : (tensor<80xi8>) -> tensor<16xi8>
  %v1 = memgraph.opaque "V"(%u, %v0) : (tensor<80xi8>, tensor<16xi8>) -> tensor<16xi8>
  %v2 = memgraph.opaque "V"(%u, %v1) : (tensor<80xi8>, tensor<16xi8>) -> tensor<16xi8>
  %r0 = memgraph.opaque "R"(%v2, %t) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  %r1 = memgraph.opaque "R"(%r0, %t) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  %r2 = memgraph.opaque "R"(%r1, %t) : (tensor<16xi8>, tensor<64xi8>) -> tensor<16xi8>
  func.return %r2 : tensor<16xi8>
}
