// RUN: not memopt-opt -p "memgraph-compact" %s 2>&1 | filecheck %s --check-prefix=PLACES
// PLACES: @gap: error: memgraph-compact: no places yet; run --place first
// RUN: not memopt-opt -p "memgraph-place{method=shared-objects},memgraph-compact" %s 2>&1 | filecheck %s --check-prefix=ONE
// ONE: @gap: error: memgraph-compact: buffers move within the one arena of our own code
// RUN: not memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule{method=source},memgraph-place,memgraph-compact" %s 2>&1 | filecheck %s --check-prefix=ONE
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-place,memgraph-compact" %s -o %t.mlir
// RUN: not memopt-opt -p "memgraph-kernels" %t.mlir 2>&1 | filecheck %s --check-prefix=KERNELS
// KERNELS: error: memgraph-kernels: b7 moves within the arena; run memgraph-compact after it
// RUN: not memopt-opt %t.mlir -t minimalloc-csv 2>&1 | filecheck %s --check-prefix=CSV
// CSV: error: minimalloc's CSV: b7 moves, and a row has one place
// RUN: sed 's/offset = .0 : i64., memgraph.order = 4/offset = [32 : i64], memgraph.order = 4/' %t.mlir | not memopt-opt --verify-plan 2>&1 | filecheck %s --check-prefix=OVER
// OVER: error: b7 at 0 at [32, 48) overwrites b6 at [16, 48), which is live until step 5
// RUN: sed 's/memgraph.copy/memgraph.relu/' %t.mlir | not memopt-opt --verify-plan 2>&1 | filecheck %s --check-prefix=KIND
// KIND: error: memgraph.alias: memgraph.relu does not move its operand
func.func @gap() {
  %b0, %b1, %b2 = memgraph.opaque "S0"() : () -> (tensor<48xi8>, tensor<32xi8>, tensor<48xi8>)
  %b3, %b4 = memgraph.opaque "S1"(%b2) : (tensor<48xi8>) -> (tensor<64xi8>, tensor<16xi8>)
  %b5, %b7 = memgraph.opaque "S2"(%b3) : (tensor<64xi8>) -> (tensor<16xi8>, tensor<16xi8>)
  %b6, %b8 = memgraph.opaque "S3"(%b4, %b5) : (tensor<16xi8>, tensor<16xi8>) -> (tensor<32xi8>, tensor<48xi8>)
  %b9 = memgraph.opaque "S4"(%b6, %b7, %b8) : (tensor<32xi8>, tensor<16xi8>, tensor<48xi8>) -> tensor<32xi8>
  func.return
}
