// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{rows=auto}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{rows=auto},memgraph-schedule" %s | filecheck %s --check-prefix=PLAN
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule" %s | filecheck %s --check-prefix=PLAN
// RUN: not memopt-opt -p "memgraph-expand-rows{rows=auto time-limit=-1}" %s 2>&1 | filecheck %s --check-prefix=TIME
// TIME: -1

// Rows of the first pool keep the peak of all in rows: what they make comes row by row, and what
// reads it stays whole.
!t = tensor<1x6x8x4xi8>
!s = tensor<1x2x8x4xi8>
!u = tensor<1x1x8x4xi8>
// PLAN: peak = 256, lower_bound = 256, proof
// CHECK-LABEL: @net
func.func @net(%x: !t) -> !u {
  // CHECK: memgraph.row_kernel
  %a = memgraph.max_pool_2d %x window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  // CHECK-NOT: memgraph.row_kernel
  // CHECK: %b = memgraph.max_pool_2d
  %b = memgraph.max_pool_2d %a window<[3, 1], stride = [3, 1]> : (!t) -> !s
  // CHECK: %c = memgraph.relu %b
  %c = memgraph.relu %b : (!s) -> !s
  // CHECK: %d = memgraph.max_pool_2d %c
  %d = memgraph.max_pool_2d %c window<[2, 1]> : (!s) -> !u
  func.return %d : !u
}
