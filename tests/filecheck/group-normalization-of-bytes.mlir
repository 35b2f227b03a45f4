// An image of bytes normalized by channels between pairs is so byte to byte, in two sweeps of its
// rows, the second one in their place; also where PyTorch says groups as a reshape of what is stored.
// RUN: memopt-opt --rewrite=all %s | filecheck %s
// RUN: memopt-opt -p "memgraph-rewrite{rules=all},memgraph-model{target=host alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s --check-prefix=ROWS < %t.mlir
// RUN: memopt-opt -t c %t.mlir | filecheck %s --check-prefix=C

!x = tensor<1x4x8x2xi8, #memgraph.encoding<nchw, scale = [5.0e-02], zero_point = [3]>>
!y = tensor<1x4x8x2xi8, #memgraph.encoding<nchw, scale = [2.5e-02], zero_point = [-7]>>
!v = tensor<1x2x32xi8, #memgraph.encoding<scale = [2.5e-02], zero_point = [-7]>>
!r = tensor<1x4x8x2xf32, #memgraph.encoding<nchw>>
!g = tensor<1x2x32xf32>
!c = tensor<4x1x1xf32>

// CHECK: [[X:!a[0-9]]] = tensor<1x8x2x4xi8, {{.*}} zero_point = [3]>>
// CHECK: [[Y:!a[0-9]]] = tensor<1x8x2x4xi8, {{.*}} zero_point = [-7]>>
// CHECK-NOT: layer_normalization
// CHECK: memgraph.group_statistics %{{.*}} groups 4 : ([[X]]) -> tensor<2x4xf32>
// CHECK: memgraph.group_normalization {{.*}} activation<relu> rounding<onnx_even> : ([[X]], {{.*}}) -> [[Y]]
// CHECK: memgraph.group_statistics %{{.*}} groups 2 : ([[Y]]) -> tensor<2x2xf32>
// CHECK: memgraph.group_normalization {{.*}} rounding<onnx_even> : ([[Y]], {{.*}}) -> [[Y]]
// CHECK-NOT: memgraph.quantize
// ROWS: family = rows
// ROWS: memgraph.group_normalization
// C: {memopt_group_statistics_s8, &op
// C: {memopt_group_normalization_even_s8, &op
func.func @main(%x: !x) -> !y {
  %g = memgraph.constant dense<2.0> : !c
  %a = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
  %0 = memgraph.dequantize %a : (!x) -> !r
  %1 = memgraph.layer_normalization %0 axis 2 epsilon 1.0e-05 : (!r) -> !r
  %2 = memgraph.mul %1, %g : (!r, !c) -> !r
  %3 = memgraph.add %2, %g activation<relu> : (!r, !c) -> !r
  %4 = memgraph.quantize %3 rounding<onnx_even> : (!r) -> !y
  %5 = memgraph.reshape %4 : (!y) -> !v
  %6 = memgraph.dequantize %5 : (!v) -> !g
  %7 = memgraph.layer_normalization %6 axis 2 epsilon 1.0e-05 : (!g) -> !g
  %8 = memgraph.quantize %7 rounding<onnx_even> : (!g) -> !v
  %9 = memgraph.reshape %8 : (!v) -> !y
  %z = memgraph.max_pool_2d %9 window<[1, 1]> : (!y) -> !y
  func.return %z : !y
}
