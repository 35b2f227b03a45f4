// OLLA's program (9): order and addresses together, from the order in hand.
// RUN: memopt-opt --model=alignment=1 --schedule=source --place=auto --verify-plan %s | filecheck %s --check-prefix=SOURCE
// RUN: memopt-opt --model=alignment=1 --schedule=source --place=joint-olla --verify-plan %s | filecheck %s --check-prefix=OLLA
// RUN: memopt-opt --model=alignment=1 --schedule=source %s | memopt-opt --place=joint-olla | memopt-opt --verify-plan | filecheck %s --check-prefix=OLLA
// RUN: memopt-opt -p 'memgraph-model{alignment=1},memgraph-schedule{method=source},memgraph-place{method=joint-olla solver=highs pruning=false},memgraph-verify-plan' %s | filecheck %s --check-prefix=OLLA
// RUN: memopt-opt -p 'memgraph-model{alignment=1},memgraph-schedule{method=source},memgraph-place{method=joint-olla time-limit=0.000001},memgraph-verify-plan' %s | filecheck %s --check-prefix=LATE
// RUN: not memopt-opt -p 'memgraph-place{method=joint-olla pyramid=true}' %s 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not memopt-opt --partition=2 --schedule=source --place=joint-olla %s 2>&1 | filecheck %s --check-prefix=PARTITION
// SOURCE: peak = 12, lower_bound = 8, proof = flow, family = order, arena = 12, arena_lower_bound = 8
// OLLA: peak = 8, lower_bound = 8, proof = flow, family = order, arena = 8, arena_lower_bound = 8
// LATE: peak = 12, lower_bound = 8, proof = flow, family = order, arena = 12, arena_lower_bound = 8
// LATE-SAME: memgraph.schedules_tried = 1 : i64
// OPTION: error: memgraph-place: joint-olla has no option 'pyramid'
// PARTITION: error: memgraph-place: @pairs: method=joint-olla may change the order, which the partition fixes
func.func @pairs(%x: tensor<1xi8>) -> tensor<1xi8> {
  %a = memgraph.opaque "a"(%x) : (tensor<1xi8>) -> tensor<6xi8>
  %b = memgraph.opaque "b"(%x) : (tensor<1xi8>) -> tensor<5xi8>
  %c = memgraph.opaque "c"(%a) : (tensor<6xi8>) -> tensor<1xi8>
  %d = memgraph.opaque "d"(%b) : (tensor<5xi8>) -> tensor<2xi8>
  %y = memgraph.opaque "e"(%c, %d) : (tensor<1xi8>, tensor<2xi8>) -> tensor<1xi8>
  func.return %y : tensor<1xi8>
}
