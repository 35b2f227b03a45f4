// Rows of a virtual concatenation are virtual too: who reads them keeps the rows of the
// parts. In C each row of the convolution makes the rows under its window in scratch.
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-rewrite{rules=gather rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-rewrite{rules=gather rows=true},memgraph-expand-rows,memgraph-schedule" %s | memopt-opt -p "memgraph-place{method=exact},memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4},memgraph-expand-rows,memgraph-schedule" %s | filecheck %s --check-prefix=JOINED
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{target=host alignment=4},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=C
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{alignment=4},memgraph-expand-rows{rows=y}" %s | filecheck %s --check-prefix=SOME
// RUN: not memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-expand-rows{rows=c}" %s 2>&1 | filecheck %s --check-prefix=NAMED
// RUN: not memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1}" %s 2>&1 | filecheck %s --check-prefix=SLIDE

// JOINED: peak = 464, lower_bound = 464
// C: {memopt_copy, &op2_0_params, op2_0_from, 1, 4, 8, 16, 0, 64},
// C-NEXT: {memopt_copy, &op2_1_params, op2_1_from, 1, 4, 8, 16, 8, 64},
// C-NEXT: {memopt_conv_2d_f32,
// C: CONV_2D y
// C-NEXT: {memopt_inlined_row, &op2_params, {{[{].*[}]}}, op2_out_at, op2_scratch_at, 2, 1, 1, 3, 4, 1, 64, 32},
// What is not cut reads the whole, which is there as well.
// SOME: memgraph.concat %x, %a axis 3
// SOME-SAME: kind = virtual
// SOME: memgraph.row %c_1[0]
// SOME: memgraph.row %y[3]
// SOME: memgraph.average_pool_2d %c
// NAMED: memgraph-expand-rows: no operator with rows makes 'c'
// SLIDE: row (c[0]): error: memgraph-slide: a virtual row, made by its readers, is not kept
// CHECK: rewritten<"gather", sites = 1, peak = [464, 368] proven>
// CHECK-SAME: peak = 368, lower_bound = 368
// CHECK: memgraph.concat
// CHECK: %c_1 = memgraph.row %c[0] (%x_1, %a_1)
// CHECK-SAME: [{{\[}}#memgraph.alias<operand = 1, kind = virtual>, #memgraph.alias<operand = 2, kind = virtual>{{\]}}]
// CHECK-SAME: #memgraph.unplaced<virtual>
// CHECK: memgraph.row %y[0] (%c_1, %c_2)
!h = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x3x4xf32, #memgraph.encoding<ohwi>>
!p = tensor<1x1x1x4xf32, #memgraph.encoding<nhwc>>
func.func @main(%x: !h) -> (!h, !h, !p) {
  %w = memgraph.constant dense<5.0e-01> : !w
  %a = memgraph.tanh %x : (!h) -> !h
  %c = memgraph.concat %x, %a axis 3 {memgraph.names = ["c"]} : (!h, !h) -> !c
  %y = memgraph.conv_2d %c, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 {memgraph.names = ["y"]} : (!c, !w) -> !h
  %z = memgraph.add %a, %x : (!h, !h) -> !h
  %p = memgraph.average_pool_2d %c window<[4, 4]> : (!c) -> !p
  func.return %y, %z, %p : !h, !h, !p
}
