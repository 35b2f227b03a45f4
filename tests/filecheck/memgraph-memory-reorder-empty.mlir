// What lies in place and has no bytes, but is an output, does not make its operand live to the end: with room for 224 B
// the bound of all orders is what the best of them costs. In @last it is made by the last operator of the file.
// RUN: memopt-opt -p "memgraph-schedule{method=source},memgraph-memory{banks=fast:224@1,slow:1K@2 reorder=true},memgraph-verify-plan" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-schedule,memgraph-memory{banks=fast:224@1,slow:1K@2 reorder=true},memgraph-verify-plan" %s | filecheck %s
// CHECK-LABEL: @main
// CHECK: traffic = #memgraph.traffic<cost = 1360, lower_bound = 1360, proof = ilp, orders_lower_bound = 1360>
// CHECK-LABEL: @last
// CHECK: traffic = #memgraph.traffic<cost = 848, lower_bound = 848, proof = ilp, orders_lower_bound = 848>
func.func @main(%w: tensor<128xi8>, %x: tensor<64xi8>) -> (tensor<0xi8>, tensor<16xi8>) {
  %z1 = memgraph.opaque "Z1"(%w) : (tensor<128xi8>) -> tensor<0xi8>
  %z2 = memgraph.opaque "Z2"(%w, %z1) : (tensor<128xi8>, tensor<0xi8>) -> tensor<0xi8>
  %z3 = memgraph.opaque "Z3"(%w, %z2) : (tensor<128xi8>, tensor<0xi8>) -> tensor<0xi8>
  %z4 = memgraph.opaque "Z4"(%w, %z3) : (tensor<128xi8>, tensor<0xi8>) -> tensor<0xi8>
  %z = memgraph.opaque "Z"(%w, %z4) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<128xi8>, tensor<0xi8>) -> tensor<0xi8>
  %a = memgraph.opaque "A"(%x, %z) : (tensor<64xi8>, tensor<0xi8>) -> tensor<128xi8>
  %b = memgraph.opaque "B"(%x, %z) : (tensor<64xi8>, tensor<0xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%a) : (tensor<128xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "D"(%b) : (tensor<128xi8>) -> tensor<16xi8>
  %e = memgraph.opaque "E"(%c, %d) : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  func.return %z, %e : tensor<0xi8>, tensor<16xi8>
}
func.func @last(%w: tensor<128xi8>, %x: tensor<64xi8>) -> (tensor<16xi8>, tensor<0xi8>) {
  %a = memgraph.opaque "A"(%x) : (tensor<64xi8>) -> tensor<128xi8>
  %b = memgraph.opaque "B"(%x) : (tensor<64xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%a) : (tensor<128xi8>) -> tensor<16xi8>
  %d = memgraph.opaque "D"(%b) : (tensor<128xi8>) -> tensor<16xi8>
  %e = memgraph.opaque "E"(%c, %d) : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  %z = memgraph.opaque "Z"(%w) {memgraph.alias = [[#memgraph.alias<operand = 0, kind = inplace>]]} : (tensor<128xi8>) -> tensor<0xi8>
  func.return %e, %z : tensor<16xi8>, tensor<0xi8>
}
