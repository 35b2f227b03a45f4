// Partial sums of integers: 32 bits each, in one buffer, requantised once into another, or in their place.
// RUN: memopt-opt -p "memgraph-model{alignment=1},memgraph-rewrite{rules=channel-wise},memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-rewrite{rules=channel-wise},memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=INPLACE
// RUN: memopt-opt -p "memgraph-rewrite{rules=channel-wise},memgraph-model{target=host inplace=on},memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=C
// RUN: sed "s/tflm_double/tflite_single/g" %s | memopt-opt -p "memgraph-rewrite{rules=channel-wise},memgraph-model{target=host},memgraph-schedule,memgraph-place" > %t.single.mlir
// RUN: not memopt-opt -t c %t.single.mlir 2>&1 | filecheck %s --check-prefix=SINGLE

// SINGLE: int8 kernels compute tflm_double or onnx_even, not tflite_single
// C: /* 1: CONV_2D y, writes 64 B
// C: memopt_conv_2d_sum_s8({{.*}}, in, [[SUM:arena \+ [0-9]+]], NULL);
// C: /* 3: CONV_2D y, adds to 64 B
// C: memopt_conv_2d_sum_s8({{.*}}, in, [[SUM]], NULL);
// C: /* 4: ACCUMULATE y, writes 16 B
// C-NEXT: PROFILE(0, 4u);
// C-NEXT: in[0] = [[SUM]];
// C-NEXT: memopt_finish_sum_s8(&op4_params, &op4_rows, in, [[SUM]], NULL);
// CHECK: sites = 1, peak = [256, 144] proven
// CHECK: memgraph.conv_2d %a, %0 {{.*}}memgraph.offset = [0 : i64]} : {{.*}} -> !a2
// CHECK: memgraph.conv_2d %b, %2 {{.*}}memgraph.offset = [0 : i64]} : {{.*}} -> !a2
// CHECK: memgraph.accumulate %1, %3 input<nhwc, scale = [5.0e-01], zero_point = [3]> weights<ohwi, scale = [1.0e-01], zero_point = [0]> activation<relu> rounding<tflm_double>
// CHECK-SAME: memgraph.offset = [64 : i64]
// INPLACE: memgraph.accumulate
// INPLACE-SAME: kind = inplace
// INPLACE-SAME: memgraph.offset = [0 : i64]
!a = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!c = tensor<1x4x4x8xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!x = tensor<1x4x4x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<1x1x1x8xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!k = tensor<4x1x1x1xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
func.func @main(%x: !x) -> !x {
  %k = memgraph.constant dense<1> : !k
  %w = memgraph.constant dense<2> : !w
  %a = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 rounding<tflm_double> : (!x, !k) -> !a
  %b = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 activation<relu> rounding<tflm_double> : (!x, !k) -> !a
  %c = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
  %y = memgraph.conv_2d %c, %w window<[1, 1]> groups 1 activation<relu> rounding<tflm_double> {memgraph.names = ["y"]} : (!c, !w) -> !x
  func.return %y : !x
}
