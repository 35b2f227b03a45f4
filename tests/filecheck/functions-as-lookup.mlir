// What is computed of a byte alone is looked up, by rows too, and may write over what it reads.
// RUN: memopt-opt %s --model=target=cortex-m4,inplace=on --rewrite=safe --schedule=auto --place=joint --verify-plan -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt %t.mlir -t c{name=net} | filecheck %s --check-prefix=C
// RUN: memopt-opt %s --model=target=cortex-m4,inplace=on --rewrite=safe --rows=all --schedule=auto --place=joint --verify-plan | filecheck %s --check-prefix=ROWS
// RUN: memopt-opt %s --rewrite=none | filecheck %s --check-prefix=NONE

// A gate of a .tflite: x * sigmoid(x).
// CHECK: peak = 32, {{.*}}arena = 32
// CHECK: %y = memgraph.lookup %x table {{.*}} {memgraph.names = ["y"], {{.*}}kind = inplace
// C: memopt_lookup_s8(&op0_params
// ROWS: memgraph.row %y[0] (%x_1)
// ROWS: memgraph.row %y[3] (%x_4)
// NONE: memgraph.logistic
!x = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!s = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [3.90625e-03], zero_point = [-128]>>
func.func @main(%x: !x) -> !x {
  %1 = memgraph.logistic %x rounding<tflm_double> : (!x) -> !s
  %y = memgraph.mul %x, %1 rounding<tflm_double> {memgraph.names = ["y"]} : (!x, !s) -> !x
  func.return %y : !x
}
