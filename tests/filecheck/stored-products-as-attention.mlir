// RUN: memopt-opt --rewrite=stored-products-as-attention %s | filecheck %s
// RUN: memopt-opt --rewrite=stored-products-as-attention --model=inplace=on --rows=all --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=ROWS
// RUN: memopt-opt --rewrite=all %s | filecheck %s --check-prefix=ALL

// What makes tables of single operators waits until they are none of an attention.
// ALL-NOT: memgraph.lookup
// ALL: memgraph.attention

// What is stored between products of bytes stands in the operator; in rows a query is one, which
// its row of the result takes the place of, and scores are scratch.

!q = tensor<1x6x4xi8, #memgraph.encoding<scale = [5.0e-02], zero_point = [3]>>
!s = tensor<1x6x6xi8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
!t = tensor<1x6x6xi8, #memgraph.encoding<scale = [1.0e-01], zero_point = [-7]>>
!p = tensor<1x6x6xi8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>>
!f = tensor<1x6x6xf32>
!c = tensor<i8, #memgraph.encoding<scale = [2.5e-01], zero_point = [0]>>

// CHECK-LABEL: @main
// CHECK-NOT: softmax
// CHECK: memgraph.attention %{{.*}} heads 1 scale 5.000000e-01 scores tensor<i8, #memgraph.encoding<scale = [2.0e-01], zero_point = [7]>>
// CHECK-SAME: scaled tensor<i8, #memgraph.encoding<scale = [1.0e-01], zero_point = [-7]>>
// CHECK-SAME: parts tensor<i8, #memgraph.encoding<scale = [3.90625e-03], zero_point = [-128]>> rounding<onnx_even>
// ROWS: memgraph.row_kernel
// ROWS: memgraph.attention
// ROWS: memgraph.row %
func.func @main(%x: !q) -> !q {
  %c = memgraph.constant dense<2> : !c
  %q = memgraph.relu %x rounding<onnx_even> : (!q) -> !q
  %1 = memgraph.batch_matmul %q, %x adj_y rounding<onnx_even> : (!q, !q) -> !s
  %2 = memgraph.mul %1, %c rounding<onnx_even> : (!s, !c) -> !t
  %3 = memgraph.dequantize %2 : (!t) -> !f
  %4 = memgraph.softmax %3 axis 2 beta 1.0 : (!f) -> !f
  %5 = memgraph.quantize %4 rounding<onnx_even> : (!f) -> !p
  %6 = memgraph.batch_matmul %5, %x rounding<onnx_even> : (!p, !q) -> !q
  func.return %6 : !q
}
