// A row is in one of the memories for as long as it lives, and the refusal says so.
// RUN: not memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-expand-rows,memgraph-schedule,memgraph-memory{banks=fast:40,slow:40}" %s 2>&1 | filecheck %s
// CHECK: do not fit into fast 40 B + slow 40 B, each row in one of them: {{[0-9]+}} B are missing
!t = tensor<1x4x1x32xi8, #memgraph.encoding<nhwc>>
func.func @main(%x: !t, %y: !t) -> !t {
  %a = memgraph.maximum %x, %y : (!t, !t) -> !t
  func.return %a : !t
}
