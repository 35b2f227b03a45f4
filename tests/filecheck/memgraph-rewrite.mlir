// RUN: memopt-opt --rewrite=pad-into-window,relu-into-producer %s | filecheck %s
// RUN: memopt-opt -p "memgraph-rewrite{rules=pad-into-window,relu-into-producer}" %s | filecheck %s
// RUN: memopt-opt --rewrite=relu-into-producer %s | filecheck %s --check-prefix=ONE
// RUN: memopt-opt %s -o %t.plain.mlir
// RUN: memopt-opt --rewrite=none %s -o %t.none.mlir
// RUN: cmp %t.plain.mlir %t.none.mlir
// RUN: memopt-opt -p memgraph-rewrite %s -o %t.bare.mlir
// RUN: cmp %t.plain.mlir %t.bare.mlir

// The standard pipelines apply no rule.
// RUN: memopt-opt --model=target=host --schedule=auto --place=auto %s | filecheck %s --check-prefix=STANDARD
// STANDARD: memgraph.pad

// What a rule changed has another plan, and is not what stands in the file.
// RUN: memopt-opt --schedule=auto --place=auto --rewrite=pad-into-window %s | filecheck %s --check-prefix=DROPPED
// RUN: memopt-opt --rewrite=pad-into-window --schedule=auto --place=auto --verify-plan %s | filecheck %s --check-prefix=PLANNED
// DROPPED-LABEL: @main
// DROPPED-NOT: memgraph.plan
// DROPPED-NOT: memgraph.order
// PLANNED-LABEL: @main
// PLANNED-SAME: peak = 2624, lower_bound = 2624
// A plan over which no rule found anything stays.
// RUN: memopt-opt --schedule=auto --place=auto %s -o %t.planned.mlir
// RUN: memopt-opt --rewrite=opaque-reshape-as-view %t.planned.mlir -o %t.same.mlir
// RUN: cmp %t.planned.mlir %t.same.mlir

// What is proven harmless, and all: a ReLU and a pad by rules that are safe.
// RUN: memopt-opt --rewrite=safe %s | filecheck %s
// RUN: memopt-opt --rewrite=all %s | filecheck %s

// Rules that there are not, and none at all.
// RUN: not memopt-opt --rewrite=most %s 2>&1 | filecheck %s --check-prefix=ALL
// RUN: not memopt-opt --rewrite=none,pad-into-window %s 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not memopt-opt %s --rewrite= 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: not memopt-opt --rewrite %s 2>&1 | filecheck %s --check-prefix=FILE
// ALL: memopt-opt: error: memgraph-rewrite: 'most' is not one of: none, safe, all, {{.*}}constant-channels, {{.*}}opaque-reshape-as-view, pad-into-window,
// BOTH: memopt-opt: error: memgraph-rewrite: 'none' is not one of: {{.*}}constant-channels, {{.*}}opaque-reshape-as-view,
// EMPTY: memopt-opt: error: --rewrite needs rules after it, of: {{.*}}constant-channels, {{.*}}; not ''
// FILE: memopt-opt: error: --rewrite needs rules after it

// CHECK-LABEL: @main
// CHECK-NOT: memgraph.pad
// CHECK: memgraph.conv_2d %x, {{.*}} window<[3, 3], pad = [1, 1, 1, 1]> groups 1 activation<relu> {memgraph.changed = #memgraph.source<0, 1, [2]>, memgraph.names = ["y"]} :
// CHECK-NEXT: return
// ONE-LABEL: @main
// ONE: memgraph.pad %x {{.*}} {memgraph.source = #memgraph.source<0, 0, [1]>}
// ONE-NEXT: memgraph.conv_2d {{.*}} window<[3, 3]> groups 1 activation<relu> {memgraph.changed = #memgraph.source<0, 1, [2]>, memgraph.names = ["y"]} :
func.func @main(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>) -> tensor<1x8x8x4xf32> {
  %p = memgraph.pad %x before [0, 1, 1, 0] after [0, 1, 1, 0] value 0.0 {memgraph.source = #memgraph.source<0, 0, [1]>} : (tensor<1x8x8x4xf32>) -> tensor<1x10x10x4xf32>
  %c = memgraph.conv_2d %p, %w window<[3, 3]> groups 1 {memgraph.source = #memgraph.source<0, 1, [2]>} : (tensor<1x10x10x4xf32>, tensor<4x3x3x4xf32>) -> tensor<1x8x8x4xf32>
  %y = memgraph.relu %c {memgraph.names = ["y"], memgraph.source = #memgraph.source<0, 2, [3]>} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  func.return %y : tensor<1x8x8x4xf32>
}
