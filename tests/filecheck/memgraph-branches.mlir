// What IF and WHILE run, which are functions of the module, is counted as scratch of these operators.
// RUN: memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-place,memgraph-branches" %s | filecheck %s --check-prefix=COUNTED
// RUN: memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-place,memgraph-branches,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-place,memgraph-branches,memgraph-schedule,memgraph-place,memgraph-branches" %s | filecheck %s
// RUN: not memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s 2>&1 | filecheck %s --check-prefix=FORGOTTEN
// RUN: not memopt-opt -p "memgraph-model{target=tflm},memgraph-schedule,memgraph-branches" %s 2>&1 | filecheck %s --check-prefix=UNPLACED

// COUNTED: func.func @main({{.*}}scratch = tflm>} {
// COUNTED: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<128>]
// COUNTED: @subgraph_1{{.*}}memgraph.plan = #memgraph.plan<peak = 128

// 16 B of %c, 64 B of %x and as many of the result, and the larger of both branches
// CHECK: func.func @main({{.*}}memgraph.plan = #memgraph.plan<peak = 272, lower_bound = 272
// CHECK: memgraph.opaque "IF"{{.*}}memgraph.scratch = [#memgraph.scratch<128, {{[0-9]+}}>]
// CHECK: @subgraph_2{{.*}}memgraph.plan = #memgraph.plan<peak = 64

// FORGOTTEN: IF runs @subgraph_1, whose arena of 128 B is not counted; run memgraph-branches
// UNPLACED: memgraph-branches: @subgraph_1, which an operator runs, has no places; run --place first
func.func @main(%c: tensor<1xi1>, %x: tensor<16xf32>) -> tensor<16xf32> attributes {memgraph.source = #memgraph.source<0, -1, [0, 1]>} {
  %y = memgraph.opaque "IF"(%c, %x) stateful options {thenSubgraphIndex = 1 : i64, elseSubgraphIndex = 2 : i64} {memgraph.source = #memgraph.source<0, 0, [2]>} : (tensor<1xi1>, tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
func.func @subgraph_1(%x: tensor<16xf32>) -> tensor<16xf32> attributes {memgraph.source = #memgraph.source<1, -1, [0]>} {
  %y = memgraph.opaque "NEG"(%x) {memgraph.source = #memgraph.source<1, 0, [1]>} : (tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
func.func @subgraph_2(%x: tensor<16xf32>) -> tensor<16xf32> attributes {memgraph.source = #memgraph.source<2, -1, [0]>} {
  func.return %x : tensor<16xf32>
}
