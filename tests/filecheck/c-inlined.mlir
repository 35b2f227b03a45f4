// A virtual tensor is made by its reader, in scratch that the search counts; the rows that a window has left are dropped.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-rewrite{rules=gather},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-rewrite{rules=gather},memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=C
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-rewrite{rules=gather}" %s | memopt-opt -p "memgraph-model{target=generic},memgraph-schedule" | filecheck %s --check-prefix=GENERIC
// RUN: sed "s/x16x4x/x3x4x/g; s/x7x2x/x1x2x/g" %s | memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-rewrite{rules=gather}" | filecheck %s --check-prefix=LEFT
// RUN: sed "s/<1x/<2x/g" %s | memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-rewrite{rules=gather}" | filecheck %s --check-prefix=IMAGES
// RUN: sed "s/<1x/<2x/g" %s | memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{target=host alignment=4},memgraph-schedule,memgraph-place" > %t.mlir
// RUN: not memopt-opt -t c %t.mlir 2>&1 | filecheck %s --check-prefix=NO-C
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s > %t.none.mlir
// RUN: not memopt-opt -t c %t.none.mlir 2>&1 | filecheck %s --check-prefix=NO-SCRATCH
!h = tensor<1x16x4x4xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x16x4x8xf32, #memgraph.encoding<nhwc>>
// LEFT: sites = 0, left = 1
// IMAGES-NOT: memgraph.alias
// NO-C: several images, of which one is in parts or made by its reader
// NO-SCRATCH: planned with 0 B of scratch, its kernel works in 384 B
// GENERIC: kind = virtual
// GENERIC-NOT: memgraph.scratch
// C: static const memopt_inlined_step op2_steps[] = {
// C-NEXT: {memopt_copy, &op2_0_params, op2_0_from, 1, 0, 4, 16, 32, 0, 128},
// C-NEXT: {memopt_copy, &op2_1_params, op2_1_from, 1, 1, 4, 16, 32, 16, 128},
// C-NEXT: {memopt_max_pool_2d_f32, &op2_2_params, op2_2_from, 1, 2, 1, 128, 64, 0, 0},
// C: .rows = 16,
// C-NEXT: .calls = 7,
// C-NEXT: .step = 2,
// C-NEXT: .before = 0,
// C-NEXT: .size = 3,
func.func @main(%x: !h) -> tensor<1x7x2x8xf32, #memgraph.encoding<nhwc>> {
  %a = memgraph.relu %x : (!h) -> !h
  %b = memgraph.tanh %x : (!h) -> !h
  // CHECK: memgraph.concat %a, %b axis 3 {{.*}}kind = virtual
  %c = memgraph.concat %a, %b axis 3 : (!h, !h) -> !c
  // CHECK: memgraph.max_pool_2d {{.*}}memgraph.scratch = [#memgraph.scratch<384
  %y = memgraph.max_pool_2d %c window<[3, 1], stride = [2, 2]> : (!c) -> tensor<1x7x2x8xf32, #memgraph.encoding<nhwc>>
  func.return %y : tensor<1x7x2x8xf32, #memgraph.encoding<nhwc>>
}
