// Partial sums: who makes them adds to one buffer, reals in the order that was found, integers in any.
// RUN: memopt-opt -p "memgraph-model{alignment=1},memgraph-rewrite{rules=channel-wise},memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s -o %t.mlir
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -p "memgraph-model{alignment=1},memgraph-schedule" %s | filecheck %s --check-prefix=WHOLE
// RUN: memopt-opt %t.mlir | memopt-opt -p "memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt -p "memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %t.mlir | filecheck %s
// RUN: memopt-opt -p "memgraph-fuse,memgraph-schedule" %t.mlir | filecheck %s --check-prefix=FUSED
// RUN: memopt-opt %t.mlir -p "memgraph-model{target=host},memgraph-schedule,memgraph-place" -t c | filecheck %s --check-prefix=C
// RUN: not memopt-opt %t.mlir -p "memgraph-memory{banks=a:1K,b:1K}" 2>&1 | filecheck %s --check-prefix=BANKS
// RUN: not memopt-opt %t.mlir -p "memgraph-traffic{on-chip=1K}" 2>&1 | filecheck %s --check-prefix=TRAFFIC

// C: static const memopt_conv_2d_sum_f32_params op1_params = {
// C: .adds = 0,
// C-NEXT: .act_min = -3.40282347e+38f,
// C: static const memopt_conv_2d_sum_f32_params op3_params = {
// C: .adds = 1,
// C-NEXT: .act_min = 0.0f,
// C: /* 1: CONV_2D y, writes 64 B
// C: memopt_conv_2d_sum_f32(&op1_params, &op1_rows, in, [[SUM:arena \+ [0-9]+]], NULL);
// C-NOT: "y",
// C: /* 3: CONV_2D y, adds to 64 B
// C-NEXT: PROFILE(0, 3u);
// C-NEXT: in[0]
// C-NEXT: memopt_conv_2d_sum_f32(&op3_params, &op3_rows, in, [[SUM]], NULL);
// C-NEXT: PROFILE(1, 3u);
// C-NEXT: TRACE({{.*}}, "y",
// BANKS: memgraph-memory: {{.*}} is added to in place, which is not modelled
// TRAFFIC: memgraph-traffic: {{.*}} is added to in place, which is not modelled
!x = tensor<1x4x4x1xf32, #memgraph.encoding<nhwc>>
!h = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x4x4x8xf32, #memgraph.encoding<nhwc>>
!w = tensor<1x1x1x8xf32, #memgraph.encoding<ohwi>>
!k = tensor<4x1x1x1xf32, #memgraph.encoding<ohwi>>
// CHECK: sites = 1, peak = [1024, 384] proven
// CHECK: peak = 384, lower_bound = 384
// WHOLE: peak = 1024, lower_bound = 1024
// FUSED: peak = 384, lower_bound = 384
func.func @main(%x: !x) -> !x {
  %k = memgraph.constant dense<1.0> : !k
  %w = memgraph.constant dense<0.5> : !w
  %a = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 : (!x, !k) -> !h
  %b = memgraph.conv_2d %x, %k window<[1, 1]> groups 1 activation<relu> : (!x, !k) -> !h
  // CHECK: %1 = memgraph.conv_2d %a, %0 {{.*}}memgraph.offset = [320 : i64]
  // CHECK: %b = memgraph.conv_2d
  // CHECK: %3 = memgraph.conv_2d %b, %2 {{.*}}memgraph.offset = [320 : i64]
  // CHECK: memgraph.accumulate %1, %3 activation<relu> {memgraph.names = ["y"], memgraph.offset = [320 : i64]}
  %c = memgraph.concat %a, %b axis 3 : (!h, !h) -> !c
  %y = memgraph.conv_2d %c, %w window<[1, 1]> groups 1 activation<relu> {memgraph.names = ["y"]} : (!c, !w) -> !x
  func.return %y : !x
}
