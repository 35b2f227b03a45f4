// RUN: memopt-opt --model=alignment=1,inplace=on --fit=384 --schedule=auto --place=joint --verify-plan %s | filecheck %s --check-prefix=WHOLE
// RUN: memopt-opt --model=alignment=1,inplace=on --fit=300 --schedule=auto --place=joint --verify-plan %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows{fit=300}" %s -o %t.rows.mlir
// RUN: memopt-opt --model=alignment=1,inplace=on --fit=300 %s -o %t.fit.mlir
// RUN: cmp %t.rows.mlir %t.fit.mlir
// RUN: not memopt-opt --model=alignment=1,inplace=on --fit=200 %s 2>&1 | filecheck %s --check-prefix=LESS
// RUN: not memopt-opt -p "memgraph-expand-rows{rows=all fit=300}" %s 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not memopt-opt -p "memgraph-expand-rows{fit=0}" %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not memopt-opt --fit=0 %s 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not memopt-opt --fit=much %s 2>&1 | filecheck %s --check-prefix=SIZE

// Whole operators where they fit; else rows of the first pool; and what is impossible is refused.
// LESS: error: 200 B are 56 B too few: all operators in rows need 256 B, and no order of these rows needs less
// BOTH: error: memgraph-expand-rows: fit chooses the rows; leave out rows
// NONE: error: memgraph-expand-rows: fit=0: no arena is smaller
// ZERO: error: --fit=0: no arena has no bytes
// SIZE: error: --fit=much: 'much' is no size; write 65536, 64K or 1M
!t = tensor<1x6x8x4xi8>
!s = tensor<1x2x8x4xi8>
!u = tensor<1x1x8x4xi8>
// WHOLE: family = order, arena = 384
// WHOLE-NOT: memgraph.row
// CHECK: family = rows, arena = 256
func.func @net(%x: !t) -> !u {
  // CHECK: memgraph.row_kernel
  %a = memgraph.max_pool_2d %x window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
  // CHECK: %b = memgraph.max_pool_2d
  %b = memgraph.max_pool_2d %a window<[3, 1], stride = [3, 1]> : (!t) -> !s
  %c = memgraph.relu %b : (!s) -> !s
  %d = memgraph.max_pool_2d %c window<[2, 1]> : (!s) -> !u
  func.return %d : !u
}
