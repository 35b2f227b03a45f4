// RUN: memopt-opt -p "memgraph-slide{rows=2}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-slide{rows=4},memgraph-slide{rows=2}" %s | filecheck %s
// RUN: not memopt-opt -p "memgraph-slide{rows=8}" %s 2>&1 | filecheck %s --check-prefix=ALL
// RUN: not memopt-opt -p "memgraph-slide{rows=0}" %s 2>&1 | filecheck %s --check-prefix=NONE

// ALL: @main: error: memgraph-slide: x has 8 rows, so no two runs have one in common
// NONE: rows=0: no window slides by that
!x = tensor<1x8x1x2xf32, #memgraph.encoding<nhwc>>
!a = tensor<1x6x1x2xf32, #memgraph.encoding<nhwc>>
!w = tensor<2x3x1x2xf32, #memgraph.encoding<ohwi>>
// CHECK: memgraph.sliding = {rows = 2 : i64, macs = 72 : i64, kept_macs = 48 : i64}
func.func @main(%x: !x) -> tensor<1x2xf32> {
  %w = memgraph.constant dense<0.5> : !w
  // CHECK: memgraph.conv_2d {{.*}}memgraph.kept_rows = 4 : i64
  %y = memgraph.conv_2d %x, %w window<[3, 1]> groups 1 : (!x, !w) -> !a
  // CHECK: memgraph.mean %y axes [1, 2] :
  %m = memgraph.mean %y axes [1, 2] : (!a) -> tensor<1x2xf32>
  func.return %m : tensor<1x2xf32>
}
