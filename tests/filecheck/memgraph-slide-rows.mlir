// RUN: memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=2}" %s -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt %t.mlir | diff - %t.mlir
// RUN: memopt-opt --slide=2 %s | diff - %t.mlir
// RUN: memopt-opt --model=target=host,alignment=4,inplace=on --slide=2 --schedule=auto --place=joint --verify-plan %s -o %t.plan.mlir
// RUN: filecheck %s --check-prefix=PLAN < %t.plan.mlir
// RUN: memopt-opt --verify-plan %t.plan.mlir | diff - %t.plan.mlir
// RUN: memopt-opt --model=target=host,alignment=4 --slide=2 --fuse --schedule=source --verify-plan %s -o %t.fused.mlir
// RUN: memopt verify %t.plan.mlir
// RUN: not memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=2 kept=47}" %s 2>&1 | filecheck %s --check-prefix=FEWER
// RUN: not memopt-opt -p "memgraph-slide{rows=2 kept=100}" %s 2>&1 | filecheck %s --check-prefix=WHOLE

// FEWER: @main: error: memgraph-slide: no fewer than 48 B are found to be kept (32 B of y), not 47
// WHOLE: @main: error: memgraph-slide{kept}: rows are kept of operators in rows, there are none

// What the last rows of y read is recalled or received, and what the mean reads is recalled too.
!x = tensor<1x8x1x2xf32, #memgraph.encoding<nhwc>>
!y = tensor<1x6x1x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x1x2xf32, #memgraph.encoding<ohwi>>
// CHECK: func.func @main(%x: !a0)
// CHECK: %y_kept = memgraph.state %y rows [0, 1, 2, 3] shift 2 : !memgraph.operator
// CHECK-NEXT: %y_1 = memgraph.recall %y_kept[0] : !a1
// CHECK: %x_kept = memgraph.state %x rows [4, 5] shift 2 : !a0
// CHECK-NEXT: %x_1 = memgraph.recall %x_kept[4] : !a0
// CHECK-NEXT: %x_2 = memgraph.recall %x_kept[5] : !a0
// CHECK-NEXT: %x_3 = memgraph.receive %x[6] : !a0
// CHECK-NEXT: %y_5 = memgraph.row %y[4] (%x_1, %x_2, %x_3)
// CHECK-NEXT: %x_4 = memgraph.receive %x[7] : !a0
// CHECK-NEXT: %y_6 = memgraph.row %y[5] (%x_2, %x_3, %x_4)
// CHECK-NEXT: memgraph.slide %x_kept
// CHECK-NEXT: memgraph.retain %x_3, %x_kept[4] : !a0
// CHECK-NEXT: memgraph.retain %x_4, %x_kept[5] : !a0
// CHECK: memgraph.row %m[0] (%y_1)
// CHECK: memgraph.row %m[3]
// CHECK-NEXT: memgraph.slide %y_kept
// CHECK-NEXT: memgraph.retain %y_5, %y_kept[2] : !a1
// CHECK-NEXT: memgraph.retain %y_6, %y_kept[3] : !a1
// PLAN: #memgraph.plan<{{.*}}family = rows
// PLAN: memgraph.recall {{.*}}#memgraph.unplaced<caller>
// PLAN: memgraph.slide %x_kept {memgraph.order =
func.func @main(%x: !x) -> tensor<1x2xf32> {
  %w = memgraph.constant dense<0.5> : !w
  %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 : (!x, !w) -> !y
  %m = memgraph.mean %y axes [1, 2] : (!y) -> tensor<1x2xf32>
  func.return %m : tensor<1x2xf32>
}
