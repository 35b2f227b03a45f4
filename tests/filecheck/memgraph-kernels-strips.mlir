// Depthwise convolutions on a Cortex-M55 read strips: of a whole row, or of a few pixels if that has no room.
// RUN: memopt-opt %s --model=target=cortex-m55,inplace=off --schedule=source --place=auto -o %t.placed.mlir
// RUN: memopt-opt %t.placed.mlir --optimize=ram --verify-plan | filecheck %s --check-prefixes=CHECK,RAM
// RUN: memopt-opt %t.placed.mlir --optimize=speed | filecheck %s --check-prefixes=CHECK,SPEED

// CHECK-LABEL: @main
// RAM-SAME: peak = 1536, {{.*}}arena = 1536
// RAM: memgraph.depthwise_conv_2d %x, {{.*}} {memgraph.order = 0 : i64, memgraph.offset = [{{[0-9]+}} : i64]} :
// RAM: memgraph.depthwise_conv_2d %a, {{.*}}memgraph.fast = "narrow", memgraph.scratch = [#memgraph.scratch<288,
// RAM: memgraph.depthwise_conv_2d %b, {{.*}}memgraph.fast, memgraph.scratch = [#memgraph.scratch<432,
// SPEED: memgraph.depthwise_conv_2d %x, {{.*}} {memgraph.fast, memgraph.scratch = [#memgraph.scratch<480>]}
// SPEED: memgraph.depthwise_conv_2d %a, {{.*}} {memgraph.fast, memgraph.scratch = [#memgraph.scratch<480>]}
// SPEED: memgraph.depthwise_conv_2d %b, {{.*}} {memgraph.fast, memgraph.scratch = [#memgraph.scratch<432>]}
!x = tensor<1x4x8x24xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!y = tensor<1x2x8x24xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!z = tensor<1x2x4x24xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!w = tensor<1x3x3x24xi8, #memgraph.encoding<ihwo, scale = [5.0e-01], zero_point = [0]>>
func.func @main(%x: !x) -> !z {
  %w = memgraph.constant dense<1> : !w
  %a = memgraph.depthwise_conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 24 rounding<tflm_double> : (!x, !w) -> !x
  %b = memgraph.depthwise_conv_2d %a, %w window<[3, 3], stride = [2, 1], pad = [1, 1, 1, 1]> groups 24 rounding<tflm_double> : (!x, !w) -> !y
  %c = memgraph.depthwise_conv_2d %b, %w window<[3, 3], stride = [1, 2], pad = [1, 1, 1, 1]> groups 24 rounding<tflm_double> : (!y, !w) -> !z
  func.return %c : !z
}
