// A mirrored border in rows: each is one row of the operand, those at the ends again. A border of
// other elements (`fill`) is no row of anything, so where there is one above the image is whole.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// CHECK: %[[A:[0-9a-z_]+]], %[[B:[0-9a-z_]+]] = memgraph.split_rows %x
// CHECK: memgraph.row %m[0] (%[[B]])
// CHECK: memgraph.row %m[1] (%[[A]])
// CHECK: memgraph.row %m[2] (%[[B]])
// CHECK: memgraph.row %m[3] (%[[A]])
// CHECK-NOT: memgraph.row %p
// CHECK: memgraph.picked
// C: memopt_picked
!x = tensor<1x2x3x2xi8, #memgraph.encoding<nhwc>>
!m = tensor<1x4x5x2xi8, #memgraph.encoding<nhwc>>
!p = tensor<1x5x5x2xi8, #memgraph.encoding<nhwc>>
func.func @main(%x: !x, %f: tensor<i8>) -> !p {
  %m = memgraph.mirrored %x shape [1, 2, 3] sizes [1, 4, 5] terms [0, 0, 1, 1, 2, 2] numbers [0, 1, 0, 1, 0, 1, 0, 1, 2, 1] : (!x) -> !m
  %p = memgraph.picked %m fill %f shape [1, 4] sizes [1, 5] terms [0, 0, 1, 1] numbers [0, -1, 0, 1, 2, 3] : (!m, tensor<i8>) -> !p
  func.return %p : !p
}
