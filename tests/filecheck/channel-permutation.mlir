// A channel shuffle of PyTorch's is one operator that has rows, between others in rows.
// RUN: memopt-opt --rewrite=channel-shuffle,channels-last %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-rewrite{rules=channel-shuffle,channels-last},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s --check-prefix=ROWS < %t.mlir
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// The verifier has its own reading of which row a row takes.
// RUN: sed "s/%m\[2\] (%a_3)/%m[2] (%a_2)/" %t.mlir > %t.wrong.mlir
// RUN: not memopt-opt -p "memgraph-verify-plan{placed=true}" %t.wrong.mlir 2>&1 | filecheck %s --check-prefix=WRONG

// CHECK: !a1 = tensor<1x3x2x4xf32, #memgraph.encoding<nhwc>>
// CHECK: %m = memgraph.channel_permutation %a groups 2 {memgraph.names = ["m"]} : (!a1) -> !a1
// CHECK-NOT: memgraph.transpose %{{.*}} permutation [0, 2, 1, 3, 4]
// ROWS: family = rows
// ROWS: memgraph.row %m[0] (%a_1)
// ROWS: memgraph.row %m[2] (%a_3)
// C: {memopt_transpose_f32, &op
// WRONG: a[1] is not row 2 of operand 0 of memgraph.channel_permutation
!x = tensor<1x4x3x2xf32, #memgraph.encoding<nchw>>
!g = tensor<1x2x2x3x2xf32>
func.func @main(%x: !x) -> !x {
  %a = memgraph.average_pool_2d %x window<[1, 1]> {memgraph.names = ["a"]} : (!x) -> !x
  %1 = memgraph.reshape %a : (!x) -> !g
  %2 = memgraph.transpose %1 permutation [0, 2, 1, 3, 4] : (!g) -> !g
  %m = memgraph.reshape %2 {memgraph.names = ["m"]} : (!g) -> !x
  %y = memgraph.average_pool_2d %m window<[1, 1]> : (!x) -> !x
  func.return %y : !x
}
