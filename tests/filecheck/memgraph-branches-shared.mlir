// Functions that several operators run have their tensors once: in scratch of all of them, at one place, between which others
// lie there.
// RUN: memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-place,memgraph-branches" %s | filecheck %s --check-prefix=COUNTED
// RUN: memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-place,memgraph-branches,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s

// COUNTED: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<128>]
// COUNTED: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<128>]
// COUNTED: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<64>]

// CHECK: func.func @main({{.*}}memgraph.plan = #memgraph.plan<peak = [[PEAK:[0-9]+]], {{.*}}arena = [[PEAK]],
// CHECK: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<128, [[PLACE:[0-9]+]]>]
// CHECK: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<128, [[PLACE]]>]
// CHECK: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<64, [[PLACE]]>]
func.func @main(%c: tensor<1xi1>, %x: tensor<16xf32>) -> tensor<16xf32> attributes {memgraph.source = #memgraph.source<0, -1, [0, 1]>} {
  %y = memgraph.opaque "IF"(%c, %x) stateful options {thenSubgraphIndex = 1 : i64, elseSubgraphIndex = 2 : i64} {memgraph.source = #memgraph.source<0, 0, [2]>} : (tensor<1xi1>, tensor<16xf32>) -> tensor<16xf32>
  %w = memgraph.opaque "WIDE"(%y) {memgraph.source = #memgraph.source<0, 1, [3]>, memgraph.scratch = []} : (tensor<16xf32>) -> tensor<100xf32>
  %n = memgraph.opaque "NARROW"(%w) {memgraph.source = #memgraph.source<0, 2, [4]>, memgraph.scratch = []} : (tensor<100xf32>) -> tensor<16xf32>
  %z = memgraph.opaque "IF"(%c, %n) stateful options {thenSubgraphIndex = 1 : i64, elseSubgraphIndex = 2 : i64} {memgraph.source = #memgraph.source<0, 3, [5]>} : (tensor<1xi1>, tensor<16xf32>) -> tensor<16xf32>
  %v = memgraph.opaque "IF"(%c, %z) stateful options {thenSubgraphIndex = 2 : i64, elseSubgraphIndex = 2 : i64} {memgraph.source = #memgraph.source<0, 4, [6]>} : (tensor<1xi1>, tensor<16xf32>) -> tensor<16xf32>
  func.return %v : tensor<16xf32>
}
func.func @subgraph_1(%x: tensor<16xf32>) -> tensor<16xf32> attributes {memgraph.source = #memgraph.source<1, -1, [0]>} {
  %y = memgraph.opaque "NEG"(%x) {memgraph.source = #memgraph.source<1, 0, [1]>} : (tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
func.func @subgraph_2(%x: tensor<16xf32>) -> tensor<16xf32> attributes {memgraph.source = #memgraph.source<2, -1, [0]>} {
  func.return %x : tensor<16xf32>
}
