// RUN: memopt-opt -p memgraph-verify-channels %s | filecheck %s
// RUN: memopt-opt -p "memgraph-expand-rows{rows=all},memgraph-verify-channels" %s | filecheck %s --check-prefix=ROWS
// RUN: sed -e "s/1 .11, 11. zero/1 [11, 12] zero/" %s | not memopt-opt -p "memgraph-expand-rows{rows=all},memgraph-verify-channels" 2>&1 | filecheck %s --check-prefix=FALSE
// RUN: sed -e "s/ {memgraph.channels = .*>]}//" %s | not memopt-opt -p memgraph-verify-channels 2>&1 | filecheck %s --check-prefix=MISSING

// The rows of an operator are held to what it claims of them.
// ROWS: left_out = [1 [11, 11] zero_weights, 2 [-98, 81] unread, 3 [127, 127] interval]
// FALSE: channel 1 is said to be constant, in [11, 12]
// MISSING: channels [0] of 1 are left, not [0]

// CHECK-LABEL: @main
// CHECK: left_out = [1 [11, 11] zero_weights, 2 [-98, 81] unread, 3 [127, 127] interval]
!x = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!h = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
!w = tensor<4x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
!w1 = tensor<1x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!b1 = tensor<1xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
!v = tensor<2x1x1x4xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!v1 = tensor<2x1x1x1xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!c = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]], [[[3, 4]]], [[[5, 6]]]]> : !w
  %b = memgraph.constant dense<[10, 200, 30, 9000]> : !b
  %0 = memgraph.take %w axis 0 kept [0] : (!w) -> !w1
  %1 = memgraph.take %b axis 0 kept [0] : (!b) -> !b1
  %2 = memgraph.conv_2d %x, %0, %1 window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.channels = [#memgraph.channels<4, left_out = [1 [11, 11] zero_weights, 2 [-98, 81] unread, 3 [127, 127] interval]>]} : (!x, !w1, !b1) -> !h
  %v = memgraph.constant dense<[[[[7, 2, 0, 1]]], [[[8, -1, 0, -3]]]]> : !v
  %c = memgraph.constant dense<[5, 6]> : !c
  %3 = memgraph.fold_into_bias %v, %c axis 3 values [0, 20, 0, 136] : (!v, !c) -> !c
  %4 = memgraph.take %v axis 3 kept [0] : (!v) -> !v1
  %5 = memgraph.conv_2d %2, %4, %3 window<[1, 1]> groups 1 rounding<tflm_double> : (!h, !v1, !c) -> !x
  func.return %5 : !x
}
