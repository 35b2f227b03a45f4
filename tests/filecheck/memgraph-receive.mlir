// RUN: memopt-opt --split-input-file -p "memgraph-expand-rows{stream-input=true}" %s | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-expand-rows{stream-input=true}" %s | memopt-opt --split-input-file | filecheck %s
// RUN: memopt-opt --split-input-file --print-op-generic -p "memgraph-expand-rows{stream-input=true}" %s | memopt-opt --split-input-file | filecheck %s
// RUN: memopt-opt --split-input-file -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{stream-input=true},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt --split-input-file -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{rows=auto stream-input=true},memgraph-fuse,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=AUTO

// Each row is received right before it is needed; the last one, which nobody reads, is received too.
// The whole image, 80 B, is never there: 2 rows of it, 32 B here, and what is made of them.
!t = tensor<1x5x4x4xi8>
!u = tensor<1x2x4x4xi8>
// CHECK-LABEL: @window
// CHECK-NOT: memgraph.split_rows
// CHECK: %[[X0:.*]] = memgraph.receive %x[0] : tensor<1x5x4x4xi8>
// CHECK-NEXT: %[[X1:.*]] = memgraph.receive %x[1] :
// CHECK-NEXT: %{{.*}} = memgraph.row %y[0] (%[[X0]], %[[X1]]) :
// CHECK-NEXT: %[[X2:.*]] = memgraph.receive %x[2] :
// CHECK-NEXT: %[[X3:.*]] = memgraph.receive %x[3] :
// CHECK-NEXT: %{{.*}} = memgraph.row %y[1] (%[[X2]], %[[X3]]) :
// CHECK: %{{.*}} = memgraph.receive %x[4] :
// CHECK-NEXT: func.return
// PLAN: func.func @window(%x: tensor<1x5x4x4xi8> {memgraph.offset = #memgraph.unplaced<caller>})
// PLAN-SAME: peak = 64, lower_bound = 64, proof = flow, family = rows, arena = 64,
// PLAN: memgraph.receive %x[0] {memgraph.order = 0 : i64, memgraph.offset = [{{[0-9]+}} : i64]}
// AUTO: peak = 64, lower_bound = 64
func.func @window(%x: !t) -> !u {
  %y = memgraph.max_pool_2d %x window<[2, 1], stride = [2, 1]> : (!t) -> !u
  func.return %y : !u
}
// -----
// A row that is padded is copied; its reader sums over all rows. The names are the tensor's.
!t = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!p = tensor<1x5x6x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!m = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
// CHECK-LABEL: @padded
// CHECK: memgraph.receive %image[0] {memgraph.names = ["camera[0]"]}
// CHECK-NEXT: memgraph.row %p[1]
// PLAN-LABEL: @padded
// PLAN-SAME: proof = flow, family = rows
// AUTO-LABEL: @padded
func.func @padded(%image: !t {memgraph.name = "camera"}) -> !m {
  %p = memgraph.pad %image before [0, 1, 1, 0] after [0, 1, 1, 0] value 0.0 : (!t) -> !p
  %m = memgraph.mean %p axes [1, 2] rounding<tflm_double> : (!p) -> !m
  func.return %m : !m
}
// -----
// auto: who reads the input is cut in any case, what follows is not.
!t = tensor<1x4x8x4xi8>
!s = tensor<1x1x1x1xi8>
!u = tensor<1x1x1x64xi8>
// AUTO-LABEL: @must
// AUTO: memgraph.row %a[3]
// AUTO-NOT: memgraph.row %
// AUTO: memgraph.opaque "grow"
func.func @must(%x: !t) -> !u {
  %a = memgraph.relu %x : (!t) -> !t
  %b = memgraph.max_pool_2d %a window<[2, 1], stride = [2, 1]> : (!t) -> tensor<1x2x8x4xi8>
  %c = memgraph.opaque "grow"(%b) : (tensor<1x2x8x4xi8>) -> tensor<1x1x1x2048xi8>
  %d = memgraph.opaque "shrink"(%c) : (tensor<1x1x1x2048xi8>) -> !u
  func.return %d : !u
}
