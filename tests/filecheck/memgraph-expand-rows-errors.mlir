// RUN: memopt-opt --split-input-file --verify-diagnostics --schedule=source --verify-plan %s

!t = tensor<1x3x4x4xi8>
!r = tensor<1x1x4x4xi8>
func.func @count(%x: !t) -> !r {
  %f = memgraph.row_kernel (%a: !t) {
    %b = memgraph.max_pool_2d %a window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  // expected-error @below {{memgraph.row: row 0 of memgraph.max_pool_2d takes 2 operands}}
  %y = memgraph.row %f[0] (%x0) : (!r) -> !r
  func.return %y : !r
}
// -----
!t = tensor<1x3x4x4xi8>
!r = tensor<1x1x4x4xi8>
func.func @none(%x: !t) -> !r {
  %f = memgraph.row_kernel (%a: !t) {
    %b = memgraph.max_pool_2d %a window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  // expected-error @below {{memgraph.max_pool_2d has no row 3}}
  %y = memgraph.row %f[3] (%x2) : (!r) -> !r
  func.return %y : !r
}
// -----
!t = tensor<1x3x4x4xi8>
func.func @no_rows(%x: !t) -> !t {
  // expected-error @below {{memgraph.row_kernel: one operation, its constants and memgraph.yield}}
  %f = memgraph.row_kernel (%a: !t) {
    %b = memgraph.relu %a : (!t) -> !t
    %c = memgraph.relu %b : (!t) -> !t
    memgraph.yield %c : !t
  }
  func.return %x : !t
}
// -----
// Each row has its own two: row 2 takes rows 1 and 2.
!t = tensor<1x3x4x4xi8>
!r = tensor<1x1x4x4xi8>
func.func @another(%x: !t) -> !t {
  %f = memgraph.row_kernel (%a: !t) {
    %b = memgraph.max_pool_2d %a window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !r
  %y1 = memgraph.row %f[1] (%x0, %x1, %x2) : (!r, !r, !r) -> !r
  // expected-error @below {{is not row 1 of operand 0 of memgraph.max_pool_2d}}
  %y2 = memgraph.row %f[2] (%x0, %x2) : (!r, !r) -> !r
  %y = memgraph.join %y0, %y1, %y2 : !t
  func.return %y : !t
}
// -----
!t = tensor<1x3x4x4xi8>
!r = tensor<1x1x4x4xi8>
func.func @some(%x: !t) -> !r {
  // expected-error @below {{rows 0 to 1 of memgraph.max_pool_2d, not all 3}}
  %f = memgraph.row_kernel (%a: !t) {
    %b = memgraph.max_pool_2d %a window<[3, 1], pad = [1, 0, 1, 0]> : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !r
  %y1 = memgraph.row %f[1] (%x0, %x1, %x2) : (!r, !r, !r) -> !r
  func.return %y1 : !r
}
