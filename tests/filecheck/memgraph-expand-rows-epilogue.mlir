// Rows of a convolution that the sum alone reads are virtual: a row of the sum reads the rows under
// the window, and its result takes the place of a row of the other operand. In C it makes some columns
// of the convolution's row at a time in scratch.
// RUN: memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=residual-epilogue rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=residual-epilogue rows=true},memgraph-expand-rows,memgraph-schedule" %s | memopt-opt -p "memgraph-place{method=exact},memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule" %s | filecheck %s --check-prefix=BUFFER
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-rewrite{rules=residual-epilogue rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s --check-prefix=HOST < %t.mlir
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// What somebody reads besides is a buffer.
// RUN: sed "s/add %%b, %%x/add %%b, %%b/" %s | memopt-opt -p "memgraph-rewrite{rules=residual-epilogue rows=true},memgraph-expand-rows,memgraph-schedule" | filecheck %s --check-prefix=LEFT
// What the kernels work in is known before the order.
// RUN: memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=residual-epilogue},memgraph-expand-rows,memgraph-schedule,memgraph-place" -o %t.none.mlir %s
// RUN: not memopt-opt -t c %t.none.mlir 2>&1 | filecheck %s --check-prefix=NO-SCRATCH
// RUN: not memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=residual-epilogue},memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1}" %s 2>&1 | filecheck %s --check-prefix=SLIDE
// RUN: not memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=residual-epilogue},memgraph-memory{banks=a:1K,b:1K}" %s 2>&1 | filecheck %s --check-prefix=MEMORY

// BUFFER: peak = 296, lower_bound = 296
// HOST: rewritten<"residual-epilogue", sites = 1, peak = [296, 280] proven>
// HOST-SAME: peak = 280, lower_bound = 280, proof = flow, family = rows, arena = 280
// HOST: memgraph.row %y[0] {{.*}}memgraph.scratch = [#memgraph.scratch<16
// C: static const memopt_epilogue_part op1_parts[] = {
// C-NEXT: {&op1_0_params, &op1_1_params, 1, 16, 16, 0, 0},
// C-NEXT: {&op1_2_params, &op1_3_params, 1, 16, 16, 16, 16},
// C: /* ADD y */
// C-NEXT: {memopt_epilogue_row, &op1_params, {op0_out_at, op0_in_at_0}, {{op[a-z0-9_]+}}, op1_scratch_at, 1, 1, 1, 1, 3, 6, 1, 32, 32},
// LEFT-NOT: rewritten
// LEFT: memgraph.row %y[5]
// NO-SCRATCH: mlir:26:5: error: C backend: planned with 0 B of scratch, it works in 16 B
// SLIDE: memgraph-slide: a virtual row, made by its readers, is not kept
// MEMORY: b is a virtual tensor, which is not modelled
// CHECK: rewritten<"residual-epilogue", sites = 1, peak = [296, 264] proven>
// CHECK-SAME: peak = 264, lower_bound = 264
// CHECK: memgraph.row %b[1] (%a_1, %a_2, %a_3)
// CHECK-SAME: [{{\[}}#memgraph.alias<operand = 1, kind = virtual>, #memgraph.alias<operand = 2, kind = virtual>, #memgraph.alias<operand = 3, kind = virtual>{{\]}}]
// CHECK-SAME: #memgraph.unplaced<virtual>
// CHECK: memgraph.row %y[1] (%b_2, %x_2)
// CHECK-SAME: #memgraph.alias<operand = 2, kind = inplace>
!t = tensor<1x6x4x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x3x2xf32, #memgraph.encoding<ohwi>>
func.func @main(%x: !t) -> tensor<1x2xf32> {
  %w = memgraph.constant dense<5.0e-01> : !w
  %a = memgraph.conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 : (!t, !w) -> !t
  %b = memgraph.conv_2d %a, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 {memgraph.names = ["b"]} : (!t, !w) -> !t
  %y = memgraph.add %b, %x {memgraph.names = ["y"]} : (!t, !t) -> !t
  %m = memgraph.mean %y axes [1, 2] : (!t) -> tensor<1x2xf32>
  func.return %m : tensor<1x2xf32>
}
