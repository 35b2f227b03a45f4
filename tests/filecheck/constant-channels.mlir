// RUN: memopt-opt --rewrite=constant-channels %s | filecheck %s
// RUN: memopt-opt -p "memgraph-rewrite{rules=constant-channels channel-multiple=2}" %s | filecheck %s --check-prefix=TWO
// RUN: memopt-opt -p "memgraph-rewrite{rules=constant-channels channel-multiple=4}" %s | filecheck %s --check-prefix=FOUR

// Claims are written and read again, and count channels as they were: what is narrow stays.
// RUN: memopt-opt --rewrite=constant-channels %s -o %t.once.mlir
// RUN: memopt-opt --rewrite=constant-channels %t.once.mlir -o %t.twice.mlir
// RUN: cmp %t.once.mlir %t.twice.mlir
// RUN: memopt-opt --print-op-generic %t.once.mlir | memopt-opt -o %t.generic.mlir
// RUN: cmp %t.once.mlir %t.generic.mlir

// Constants that a writer computes are in flash under every target, and no operators.
// RUN: memopt-opt --rewrite=constant-channels --model=target=tflm --schedule=auto --place=auto --stats=json %s 2>&1 >/dev/null | filecheck %s --check-prefix=TFLM
// TFLM: "pass": "memgraph-place", "function": "main", "operators": 3, "peak": 32, {{.*}}, "left_out": {"zero_weights": 1, "unread": 2, "interval": 1, "constant_inputs": 2}, "macs": 16, "weights": 16}

// RUN: not memopt-opt -p "memgraph-rewrite{rules=constant-channels channel-multiple=0}" %s 2>&1 | filecheck %s --check-prefix=NONE
// NONE: memopt-opt: error: memgraph-rewrite: channel-multiple=0: 1 to 1024

// CHECK-LABEL: @main
// CHECK: memgraph.take %w axis 0 kept [0]
// CHECK: memgraph.conv_2d %x, {{.*}} {memgraph.channels = [#memgraph.channels<4, left_out = [1 [11, 11] zero_weights, 2 [-98, 81] unread, 3 [127, 127] interval]>], memgraph.narrowed = #memgraph.source<0, 0, [1]>} :
// CHECK: memgraph.relu {{.*}} {memgraph.channels = [#memgraph.channels<4, left_out = [1 [11, 11] constant_inputs, 2 [-9, 81] unread, 3 [127, 127] constant_inputs]>]} :
// CHECK: memgraph.fold_into_bias %v, %c axis 3 values [0, 20, 0, 136]
// CHECK: memgraph.take %v axis 3 kept [0]

// TWO-LABEL: @main
// TWO: left_out = [2 [-98, 81] unread, 3 [127, 127] interval]>
// FOUR-LABEL: @main
// FOUR-NOT: memgraph.channels
!x = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!h = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
!w = tensor<4x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
!v = tensor<2x1x1x4xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
!c = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
func.func @main(%x: !x) -> !x {
  %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]], [[[3, 4]]], [[[5, 6]]]]> : !w
  %b = memgraph.constant dense<[10, 200, 30, 9000]> : !b
  %h = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double> {memgraph.source = #memgraph.source<0, 0, [1]>} : (!x, !w, !b) -> !h
  %r = memgraph.relu %h rounding<tflm_double> : (!h) -> !h
  %v = memgraph.constant dense<[[[[7, 2, 0, 1]]], [[[8, -1, 0, -3]]]]> : !v
  %c = memgraph.constant dense<[5, 6]> : !c
  %y = memgraph.conv_2d %r, %v, %c window<[1, 1]> groups 1 rounding<tflm_double> : (!h, !v, !c) -> !x
  func.return %y : !x
}
