// A mask of each head stands beside those of the others in its query's row: in rows a query reads its
// row of it, and the verifier's own reading is the same.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows{rows=all},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// RUN: sed "s/%y\[2\] (%q_3, %x, %x, %m_3)/%y[2] (%q_3, %x, %x, %m_2)/" %t.mlir > %t.wrong.mlir
// RUN: not memopt-opt -p "memgraph-verify-plan{placed=true}" %t.wrong.mlir 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: memgraph.attention {{.*}} heads 2 scale 5.000000e-01
// CHECK: memgraph.row %y[2] (%q_3, %x, %x, %m_3)
// C: {memopt_attention_f32, &op
// WRONG: m[1] is not row 2 of operand 3 of memgraph.attention
!q = tensor<1x6x4xf32>
!m = tensor<1x6x12xf32>
func.func @main(%x: !q, %b: !m) -> !q {
  %q = memgraph.relu %x {memgraph.names = ["q"]} : (!q) -> !q
  %m = memgraph.relu %b {memgraph.names = ["m"]} : (!m) -> !m
  %y = memgraph.attention %q, %x, %x, %m heads 2 scale 5.000000e-01 {memgraph.names = ["y"]} : (!q, !q, !q, !m) -> !q
  %z = memgraph.relu %y : (!q) -> !q
  func.return %z : !q
}
