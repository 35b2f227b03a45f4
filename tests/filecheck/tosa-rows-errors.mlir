// Rows of tosa that are none are refused by name; the plan verifier has its own table (verify/foreign/tosa.py).
// RUN: sed '/^.. ASKED/,$d' %s > %t.mlir
// RUN: memopt-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect --schedule=source --verify-plan %t.mlir
// RUN: sed -n '/^func.func @asked/,/^}/p' %s > %t.asked.mlir
// RUN: sed -n '/^func.func @streamed/,/^}/p' %s > %t.streamed.mlir
// RUN: not memopt-opt --allow-unregistered-dialect -p "memgraph-expand-rows{rows=m}" %t.asked.mlir 2>&1 | filecheck %s --check-prefix=ASKED
// RUN: not memopt-opt --allow-unregistered-dialect -p "memgraph-expand-rows{stream-input=true}" %t.asked.mlir 2>&1 | filecheck %s --check-prefix=STREAM
// RUN: not memopt-opt --allow-unregistered-dialect -p "memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-to-memref" %t.streamed.mlir 2>&1 | filecheck %s --check-prefix=MEMREF
// RUN: not memopt-opt --allow-unregistered-dialect -p "memgraph-model{target=host},memgraph-expand-rows,memgraph-schedule,memgraph-place" -t c %t.streamed.mlir 2>&1 | filecheck %s --check-prefix=C
// RUN: not memopt-opt --allow-unregistered-dialect -p "memgraph-expand-rows{stream-input=true},memgraph-slide{rows=1}" %t.streamed.mlir 2>&1 | filecheck %s --check-prefix=SLIDE
// RUN: sed -n '/^func.func @batches/,/^}/p' %s > %t.batches.mlir
// RUN: not memopt-opt --allow-unregistered-dialect -p memgraph-expand-rows %t.batches.mlir 2>&1 | filecheck %s --check-prefix=BATCHES

!t = tensor<1x3x4x4xf32>
!r = tensor<1x1x4x4xf32>
func.func @another(%x: !t) -> !r {
  %f = memgraph.row_kernel (%a: !t) {
    %b = tosa.max_pool2d %a {kernel = array<i64: 2, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (!t) -> tensor<1x2x4x4xf32>
    memgraph.yield %b : tensor<1x2x4x4xf32>
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  // expected-error @below {{x2 is not row 1 of operand 0 of tosa.max_pool2d}}
  %y0 = memgraph.row %f[0] (%x0, %x2) : (!r, !r) -> !r
  func.return %y0 : !r
}
// -----
!t = tensor<1x3x4x4xf32>
!r = tensor<1x1x4x4xf32>
func.func @fewer(%x: !t) -> !r {
  %f = memgraph.row_kernel (%a: !t) {
    %b = "tosa.tanh"(%a) : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  // expected-error @below {{memgraph.row: row 0 of tosa.tanh takes 1 operands}}
  %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !r
  func.return %y0 : !r
}
// -----
!t = tensor<1x3x4x4xf32>
func.func @some(%x: !t) -> tensor<1x1x4x4xf32> {
  // expected-error @below {{rows 0 to 0 of tosa.tanh, not all 3}}
  %f = memgraph.row_kernel (%a: !t) {
    %b = "tosa.tanh"(%a) : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  %y0 = memgraph.row %f[0] (%x0) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %y0 : tensor<1x1x4x4xf32>
}
// -----
!t = tensor<1x3x4x4xf32>
func.func @none(%x: !t) -> !t {
  // expected-error @below {{memgraph.row_kernel: tosa.reverse has no rows}}
  %f = memgraph.row_kernel (%a: !t) {
    %b = "tosa.reverse"(%a) {axis = 1 : i32} : (!t) -> !t
    memgraph.yield %b : !t
  }
  func.return %x : !t
}
// -----
// A dialect of which nobody says rows.
!t = tensor<1x3x4x4xf32>
func.func @nobody(%x: !t) -> !t {
  // expected-error @below {{memgraph.row_kernel: other.tanh has no rows}}
  %f = memgraph.row_kernel (%a: !t) {
    %b = "other.tanh"(%a) : (!t) -> !t
    memgraph.yield %b : !t
  }
  func.return %x : !t
}
// -----
// A part that its operand has not, so that rows of it would not be there.
!t = tensor<1x3x4x4xf32>
func.func @beyond(%x: !t) -> !t {
  %f = memgraph.row_kernel (%a: !t) {
    // expected-error @below {{a part of [1, 3, 4, 4] from [0, 1, 0, 0] is not in [1, 3, 4, 4]}}
    %b = "tosa.slice"(%a) {start = array<i64: 0, 1, 0, 0>, size = array<i64: 1, 3, 4, 4>} : (!t) -> !t
    memgraph.yield %b : !t
  }
  %x0, %x1, %x2 = memgraph.split_rows %x : !t
  %y0 = memgraph.row %f[2] (%x2) : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  func.return %x : !t
}
// ASKED: memgraph-expand-rows: no operator with rows makes 'm'
// STREAM: tosa.matmul (m) has no rows, it reads all of x
// MEMREF: {{.*}}:{{.*}}: error: memgraph-to-memref: memgraph.row of tosa.tanh is no call
// C: error: rows of tosa.tanh, an operation of another dialect, are planned only
// SLIDE: memgraph-slide: a row of tosa.tanh, of another dialect, is not kept
// BATCHES: no operator has rows: x, 2x3x4x4, is no single image, its first dimension is 2
func.func @asked(%x: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %m = tosa.matmul %x, %x, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %y = "tosa.tanh"(%m) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  func.return %y : tensor<1x4x4xf32>
}
func.func @streamed(%x: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %y = "tosa.tanh"(%x) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  func.return %y : tensor<1x4x4xf32>
}
func.func @batches(%x: tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32> {
  %y = "tosa.tanh"(%x) : (tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  func.return %y : tensor<2x3x4x4xf32>
}
