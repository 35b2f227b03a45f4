// RUN: memopt-opt --split-input-file -p memgraph-expand-rows %s | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-expand-rows{rows=all}" %s | memopt-opt --split-input-file | filecheck %s
// RUN: memopt-opt --split-input-file --print-op-generic -p memgraph-expand-rows %s | memopt-opt --split-input-file | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-expand-rows{rows=none}" %s -o %t.none.mlir
// RUN: memopt-opt --split-input-file %s -o %t.plain.mlir
// RUN: cmp %t.none.mlir %t.plain.mlir
// RUN: memopt-opt --split-input-file -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-verify-plan,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt --split-input-file -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows" %s | memopt-opt --split-input-file --schedule=auto --place=auto --verify-plan | filecheck %s --check-prefix=PLAN
// RUN: not memopt-opt --split-input-file -p "memgraph-expand-rows{rows=q}" %s 2>&1 | filecheck %s --check-prefix=NAME
// NAME: memgraph-expand-rows: no operator with rows makes 'q'

// Rows die alone: 48 B of input, 48 B of %y and 12 B of %z are never all there; whole, they need 96 B.
!t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!u = tensor<1x3x1x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
// CHECK-LABEL: @window
// PLAN-LABEL: @window
// PLAN-SAME: peak = 68, lower_bound = 68, proof = flow, family = rows, arena = 72, arena_lower_bound = 68
// CHECK: %y = memgraph.row_kernel (%[[X:.*]]: !
// CHECK-NEXT: %[[Y:.*]] = memgraph.max_pool_2d %[[X]] window<[3, 3], pad = [1, 1, 1, 1]>
// CHECK-NEXT: memgraph.yield %[[Y]]
// CHECK: %[[X0:.*]], %[[X1:.*]], %[[X2:.*]] = memgraph.split_rows %x : !
// CHECK-NEXT: %[[Y0:.*]] = memgraph.row %y[0] (%[[X0]], %[[X1]]) :
// CHECK-NEXT: %[[Y1:.*]] = memgraph.row %y[1] (%[[X0]], %[[X1]], %[[X2]]) :
// CHECK-NEXT: %[[Y2:.*]] = memgraph.row %y[2] (%[[X1]], %[[X2]]) :
// CHECK: %[[Z0:.*]] = memgraph.row %z[0] (%[[Y0]]) :
// CHECK-NEXT: %[[Z1:.*]] = memgraph.row %z[1] (%[[Y1]]) :
// CHECK-NEXT: %[[Z2:.*]] = memgraph.row %z[2] (%[[Y2]]) :
// CHECK-NEXT: %[[Z:.*]] = memgraph.join %[[Z0]], %[[Z1]], %[[Z2]] : !
// CHECK-NEXT: func.return %[[Z]]
func.func @window(%x: !t) -> !u {
  %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  %z = memgraph.average_pool_2d %y window<[1, 4]> : (!t) -> !u
  func.return %z : !u
}
// -----
// A sum over the rows: each takes the sum before it, in place; the last makes the result.
!t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
// CHECK-LABEL: @sum
// PLAN-LABEL: @sum
// CHECK: %[[X0:.*]], %[[X1:.*]], %[[X2:.*]] = memgraph.split_rows %x : !
// CHECK: %[[A:.*]] = memgraph.row %m[0] (%[[X0]]) : (!{{.*}}) -> tensor<1x4xi32>
// CHECK: %[[B:.*]] = memgraph.row %m[1] (%[[X1]], %[[A]]) : (!{{.*}}, tensor<1x4xi32>) -> tensor<1x4xi32>
// CHECK: %{{.*}} = memgraph.row %m[2] (%[[X2]], %[[B]]) : (!{{.*}}, tensor<1x4xi32>) -> !
// PLAN: memgraph.row %m[1] ({{.*}}kind = inplace
func.func @sum(%x: !t) -> !m {
  %m = memgraph.mean %x axes [1, 2] rounding<tflm_double> : (!t) -> !m
  func.return %m : !m
}
// -----
// Parts of another size are slices of rows; a source without the tensors' numbers, as of ONNX, is that of each.
!t = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc>>
!a = tensor<1x1x2x2xi8, #memgraph.encoding<nhwc>>
!b = tensor<1x3x2x2xi8, #memgraph.encoding<nhwc>>
// CHECK-LABEL: @parts
// CHECK: memgraph.slice {{.*}} starts [0, 0, 0, 0] strides [1, 1, 1, 1] {memgraph.source = #memgraph.source<0, 3, []>}
// CHECK: memgraph.slice {{.*}} starts [0, 1, 0, 0] strides [1, 1, 1, 1] {memgraph.source = #memgraph.source<0, 3, []>}
// CHECK: memgraph.row %b[2]
func.func @parts(%x: !t) -> (!a, !b) {
  %a, %b = memgraph.split %x axis 1 {memgraph.source = #memgraph.source<0, 3, []>} : (!t) -> (!a, !b)
  func.return %a, %b : !a, !b
}
