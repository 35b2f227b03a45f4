// A convolution of a concatenation in rows: rows of one of each part are added up in one buffer, an
// integer's in 32 bits and requantised once. The order of two parts is free, so in C their operators
// are there twice: for the rows that overwrite the buffer and for those that add to it.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-rewrite{rules=channel-wise rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -p "memgraph-verify-plan{placed=true}" %t.mlir | filecheck %s
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule" %s | filecheck %s --check-prefix=WHOLE
// Reals are added in the order of the operands, by who makes them last the result.
// RUN: sed "s/i8, #memgraph.encoding<\([no]hw[ci]\), .*>>/f32, #memgraph.encoding<\1>>/; s/dense<1>/dense<1.0>/; s/ rounding<tflm_double>//" %s > %t.real.mlir
// RUN: memopt-opt -p "memgraph-model{target=host alignment=4 inplace=on},memgraph-rewrite{rules=channel-wise rows=true},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %t.real.mlir -o %t.real.rows.mlir
// RUN: filecheck %s --check-prefix=REAL < %t.real.rows.mlir
// RUN: memopt-opt -t c %t.real.rows.mlir | filecheck %s --check-prefix=REAL-C
// Who adds up and what is added up are in rows, or none of them.
// RUN: memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=channel-wise rows=true},memgraph-expand-rows{rows=a,b}" %s | filecheck %s --check-prefix=SOME
// RUN: not memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=channel-wise rows=true},memgraph-expand-rows{rows=y}" %s 2>&1 | filecheck %s --check-prefix=NAMED
// RUN: not memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=channel-wise rows=true},memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1}" %s 2>&1 | filecheck %s --check-prefix=SLIDE
// RUN: not memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-rewrite{rules=channel-wise rows=true},memgraph-memory{banks=a:1K,b:1K}" %s 2>&1 | filecheck %s --check-prefix=MEMORY

// WHOLE: peak = 192, lower_bound = 192
// CHECK: rewritten<"channel-wise", sites = 1, peak = [192, 184] proven>
// CHECK-SAME: peak = 184, lower_bound = 184, proof = flow, family = rows
// CHECK: memgraph.row %y[0] (%{{[0-9]+}}, %{{[0-9]+}})
// CHECK-SAME: #memgraph.alias<operand = 1, kind = inplace>
// C: {memopt_conv_2d_sum_s8, &op2_params
// C: {memopt_conv_2d_sum_s8, &op3_params
// C: {memopt_conv_2d_sum_s8, &op4_params
// C: {memopt_conv_2d_sum_s8, &op5_params
// C: /* ACCUMULATE y */
// C-NEXT: {memopt_finish_sum_s8, &op6_params
// REAL: rewritten<"channel-wise", sites = 1, peak = [768, 680] proven>
// REAL: memgraph.row %y[0] (%{{[0-9]+}}, %{{[0-9]+}})
// REAL-NOT: memgraph.order
// REAL-SAME: memgraph.offset
// REAL-C: {memopt_conv_2d_sum_f32, &op2_params
// REAL-C: {memopt_conv_2d_sum_f32, &op3_params
// REAL-C-NEXT: /* AVERAGE_POOL_2D p */
// SOME: memgraph.row %b[5]
// SOME-NOT: memgraph.row %y
// SOME: memgraph.accumulate
// NAMED: memgraph-expand-rows: no operator with rows makes 'y'
// SLIDE: y[0]): error: memgraph-slide: a row that several operators add up is not kept
// MEMORY: is added to in place, which is not modelled
!a = tensor<1x6x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!c = tensor<1x6x4x8xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<2x3x3x8xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!y = tensor<1x6x4x2xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
!p = tensor<1x1x1x2xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
func.func @main(%x: !a) -> !p {
  %w = memgraph.constant dense<1> : !w
  %a = memgraph.relu %x rounding<tflm_double> {memgraph.names = ["a"]} : (!a) -> !a
  %b = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> {memgraph.names = ["b"]} : (!a) -> !a
  %c = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
  %y = memgraph.conv_2d %c, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1 rounding<tflm_double> {memgraph.names = ["y"]} : (!c, !w) -> !y
  %p = memgraph.average_pool_2d %y window<[6, 4]> : (!y) -> !p
  func.return %p : !p
}
