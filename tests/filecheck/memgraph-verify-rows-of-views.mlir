// Rows of a tensor that is seen through a view are what its producer, or the caller, has written.
// RUN: memopt-opt --split-input-file -p "memgraph-model{alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s

// Row 0 lies over row 0 of the argument in the first step, where the argument is still there.
!n = tensor<1x1x4x4xf32, #memgraph.encoding<nchw>>
!t = tensor<1x4x4x1xf32, #memgraph.encoding<nhwc>>
!m = tensor<1x1x1x1xf32, #memgraph.encoding<nhwc>>
// CHECK-LABEL: @argument
// CHECK: memgraph.row %y[0] ({{.*}}kind = inplace
func.func @argument(%x: !n) -> !m {
  %v = memgraph.reshape %x : (!n) -> !t
  %y = memgraph.relu %v : (!t) -> !t
  %m = memgraph.mean %y axes [1, 2] keep_dims : (!t) -> !m
  func.return %m : !m
}
// -----
// CHECK-LABEL: @result
// CHECK: memgraph.row %y[0] ({{.*}}kind = inplace
!n = tensor<1x1x4x4xf32, #memgraph.encoding<nchw>>
!t = tensor<1x4x4x1xf32, #memgraph.encoding<nhwc>>
!m = tensor<1x1x1x1xf32, #memgraph.encoding<nhwc>>
func.func @result(%x: !n) -> !m {
  %a = memgraph.opaque "A"(%x) : (!n) -> !n
  %v = memgraph.reshape %a : (!n) -> !t
  %y = memgraph.relu %v : (!t) -> !t
  %m = memgraph.mean %y axes [1, 2] keep_dims : (!t) -> !m
  func.return %m : !m
}
