// Order together with memories: in the file's order %a and %b are live at once, and one lies in the slow memory.
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-memory{banks=fast:224@1,slow:1K@2},memgraph-verify-plan" %s | filecheck %s --check-prefix=STAY
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-memory{banks=fast:224@1,slow:1K@2 reorder=true},memgraph-verify-plan" %s | filecheck %s
// What was read is checked, and loses its bound of all orders where it is assigned again without.
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-memory{banks=fast:224@1,slow:1K@2 reorder=true}" %s | memopt-opt -p "memgraph-verify-plan,memgraph-memory{banks=fast:224@1,slow:1K@2}" | filecheck %s --check-prefix=AGAIN
// RUN: not memopt-opt -p "memgraph-partition{k=2},memgraph-memory{banks=fast:224@1,slow:1K@2 reorder=true}" %s 2>&1 | filecheck %s --check-prefix=PARTS
// What has no room in any order lacks least, and at another operator, in one that is not the file's.
// RUN: not memopt-opt -p "memgraph-schedule{method=source},memgraph-memory{banks=fast:128@1,slow:64@2 reorder=true}" %s 2>&1 | filecheck %s --check-prefix=LACK
// LACK: slow 64 B: 16 B are missing at C (c) with a 128 B, x 64 B, c 16 B
// STAY: traffic = #memgraph.traffic<cost = 976, lower_bound = 976, proof = ilp>
// CHECK: traffic = #memgraph.traffic<cost = 720, lower_bound = 720, proof = ilp, orders_lower_bound = 720>
// CHECK: "A"
// CHECK-NEXT: "C"
// CHECK-NEXT: "B"
// AGAIN: traffic = #memgraph.traffic<cost = 720, lower_bound = 720, proof = ilp>
// PARTS: memgraph-memory: @main: reorder=true may change the order, which the partition fixes
func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<128xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<64xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%a) : (tensor<128xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "D"(%b) : (tensor<128xi8>) -> tensor<16xi8>
  %e = memgraph.opaque "E"(%c, %d) : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  func.return %e : tensor<16xi8>
}
