// A pool of a concatenation is one of each part, also where all is in rows: %b is there after the last
// row of %x only, so all rows of %x waited for it; now a quarter of them do, as rows of the pool.
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-rewrite{rules=kernel-wise,gather rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-rewrite{rules=kernel-wise,gather rows=true},memgraph-expand-rows,memgraph-schedule" %s | memopt-opt -p "memgraph-place{method=exact},memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-rewrite{rules=gather rows=true},memgraph-expand-rows,memgraph-schedule" %s | filecheck %s --check-prefix=JOINED
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4},memgraph-rewrite{rules=kernel-wise,gather rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=C
// What is returned is a buffer, and no part of one.
// RUN: sed "s/return %%z : !z/return %%y : !y/; s/) -> !z {/) -> !y {/" %s | memopt-opt -p "memgraph-rewrite{rules=kernel-wise rows=true},memgraph-expand-rows,memgraph-schedule" | filecheck %s --check-prefix=LEFT

// LEFT-NOT: rewritten
// LEFT: memgraph.row %y[3] (%c_7, %c_8)
// JOINED: rewritten<"gather", sites = 1
// JOINED-SAME: peak = 720, lower_bound = 720
// CHECK: rewritten<"kernel-wise", sites = 1, peak = [784, 592] proven>
// CHECK-SAME: peak = 592, lower_bound = 592
// CHECK: memgraph.row %max_pool_2d[3] (%x_7, %x_8)
// CHECK: memgraph.row %max_pool_2d_1[0] (%b_1, %b_2)
// CHECK: memgraph.row %y[0] (%1, %11)
// CHECK-SAME: kind = virtual
// C: /* MAX_POOL_2D max_pool_2d_0 */
// C: /* MAX_POOL_2D max_pool_2d_0 */
// C: /* CONV_2D z */
// C-NEXT: {memopt_inlined_row,
!t = tensor<1x8x4x4xf32, #memgraph.encoding<nhwc>>
!p = tensor<1x1x1x4xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x8x4x8xf32, #memgraph.encoding<nhwc>>
!y = tensor<1x4x2x8xf32, #memgraph.encoding<nhwc>>
!z = tensor<1x4x2x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x1x1x8xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !t) -> !z {
  %w = memgraph.constant dense<5.0e-01> : !w
  %a = memgraph.tanh %x : (!t) -> !t
  %m = memgraph.mean %a axes [1, 2] keep_dims : (!t) -> !p
  %b = memgraph.resize_nearest %m : (!p) -> !t
  %c = memgraph.concat %x, %b axis 3 : (!t, !t) -> !c
  %y = memgraph.max_pool_2d %c window<[2, 2], stride = [2, 2]> : (!c) -> !y
  %z = memgraph.conv_2d %y, %w window<[1, 1]> groups 1 : (!y, !w) -> !z
  func.return %z : !z
}
