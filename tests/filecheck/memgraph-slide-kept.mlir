// RUN: memopt-opt --slide=1 %s | filecheck %s
// RUN: memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1 kept=300}" %s | filecheck %s --check-prefix=FEWER
// RUN: memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1 kept=300},memgraph-schedule,memgraph-place,memgraph-verify-plan" %s -o %t.mlir
// RUN: not memopt-opt -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1 kept=0}" %s 2>&1 | filecheck %s --check-prefix=NONE

// NONE: kept=0: no window is kept in that
// Windows are padded at the top, so that the first row of z reads rows 0 and 1 of y, of which row 1
// would wait in the state from when it was row 10: instead it is computed again, of rows of x that
// wait there for row 0 of y anyway.
!t = tensor<1x12x1x4xf32, #memgraph.encoding<nhwc>>
// CHECK: memgraph.state %y rows [1, 2, 3, 4, 5, 6, 7, 8, 9] shift 1
// FEWER: memgraph.state %x rows [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] shift 1
// FEWER-NOT: memgraph.state %y
// FEWER: memgraph.row %y[1] (
// FEWER: memgraph.state %z rows [2, 3, 4, 5, 6, 7, 8] shift 1
func.func @main(%x: !t) -> !t {
  %y = memgraph.max_pool_2d %x window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  %z = memgraph.max_pool_2d %y window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  func.return %z : !t
}
