// A virtual concatenation: its reader reads its parts, which live as long.
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{alignment=1},memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1},memgraph-schedule" %s | filecheck %s --check-prefix=WHOLE
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{alignment=1},memgraph-schedule" %s | memopt-opt -p "memgraph-place{method=exact},memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{target=host},memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=C
// RUN: not memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-schedule,memgraph-memory{banks=a:1K,b:1K}" %s 2>&1 | filecheck %s --check-prefix=BANKS
// RUN: memopt-opt -p "memgraph-rewrite{rules=gather},memgraph-model{alignment=1},memgraph-fuse,memgraph-schedule" %s | filecheck %s

// C: {memopt_average_pool_2d_f32, &op2_2_params,
// C: AVERAGE_POOL_2D
// C: memopt_inlined(&op2_params, NULL, in, arena + {{[0-9]+}}, arena + {{[0-9]+}});
// BANKS: memgraph-memory: c is a virtual tensor, which is not modelled
!h = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!y = tensor<1x2x2x4xf32, #memgraph.encoding<nhwc>>
// CHECK: peak = 384, lower_bound = 384
// WHOLE: peak = 512, lower_bound = 512
func.func @main(%x: !h) -> !y {
  %a = memgraph.relu %x : (!h) -> !h
  %b = memgraph.tanh %x : (!h) -> !h
  // CHECK: memgraph.concat %a, %b axis 3
  // CHECK-SAME: memgraph.alias = {{.*}}kind = virtual{{.*}}kind = virtual
  %c = memgraph.concat %a, %b axis 3 {memgraph.names = ["c"]} : (!h, !h) -> !c
  // CHECK: memgraph.average_pool_2d
  %y = memgraph.average_pool_2d %c window<[2, 2], stride = [2, 2]> : (!c) -> !y
  func.return %y : !y
}
