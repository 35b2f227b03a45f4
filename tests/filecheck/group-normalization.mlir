// An image normalized by channels is so in two sweeps of its rows, the second one in their place.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-rewrite{rules=group-normalization,channels-last},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -p "memgraph-verify-plan{placed=true}" %t.mlir | filecheck %s
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// The verifier has its own reading of which row a row takes.
// RUN: sed "s/%y\[2\] (%a_3, /%y[2] (%a_2, /" %t.mlir > %t.wrong.mlir
// RUN: not memopt-opt -p "memgraph-verify-plan{placed=true}" %t.wrong.mlir 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: family = rows
// CHECK: memgraph.group_statistics
// CHECK: memgraph.group_normalization {{.*}} activation<relu>
// CHECK: memgraph.row %y[0] (%a_1, %6)
// C: {memopt_group_statistics_f32, &op
// C: {memopt_group_normalization_f32, &op
// WRONG: a[1] is not row 2 of operand 0 of memgraph.group_normalization
!x = tensor<1x4x3x2xf32, #memgraph.encoding<nchw>>
!c = tensor<4x1x1xf32>
func.func @main(%x: !x) -> !x {
  %g = memgraph.constant dense<2.0> : !c
  %a = memgraph.average_pool_2d %x window<[1, 1]> {memgraph.names = ["a"]} : (!x) -> !x
  %1 = memgraph.layer_normalization %a axis 2 epsilon 1.0e-05 : (!x) -> !x
  %2 = memgraph.mul %1, %g : (!x, !c) -> !x
  %y = memgraph.add %2, %g activation<relu> {memgraph.names = ["y"]} : (!x, !c) -> !x
  %z = memgraph.average_pool_2d %y window<[1, 1]> : (!x) -> !x
  func.return %z : !x
}
