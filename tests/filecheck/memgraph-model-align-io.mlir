// Inputs and outputs in the arena begin with a line of a cache and take up whole ones, in rows too: here 25 B take 32, the 50 B between them stay 50.
// RUN: memopt-opt -p "memgraph-model{target=host alignment=1 align-io=32},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" -o %t.mlir %s
// RUN: filecheck %s < %t.mlir
// RUN: memopt-opt -p "memgraph-verify-plan{placed=true}" %t.mlir | filecheck %s
// RUN: memopt-opt -t c{name=net} %t.mlir | filecheck %s --check-prefix=C
// RUN: memopt-opt -p "memgraph-model{target=host alignment=1 align-io=32},memgraph-expand-rows,memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=ROWS
// RUN: memopt-opt -p "memgraph-model{alignment=1 align-io=32},memgraph-schedule,memgraph-place{method=shared-objects},memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=OBJECTS
// RUN: memopt-opt -p "memgraph-model{alignment=1 align-io=32},memgraph-schedule,memgraph-memory{banks=fast:64,slow:320},memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=BANKS
// RUN: not memopt-opt -p "memgraph-model{align-io=24}" %s 2>&1 | filecheck %s --check-prefix=LINE
// RUN: not memopt-opt -p "memgraph-model{align-io=32 io=caller}" %s 2>&1 | filecheck %s --check-prefix=CALLER
// RUN: not memopt-opt -p "memgraph-model{align-io=32},memgraph-fuse" %s 2>&1 | filecheck %s --check-prefix=FUSE
// LINE: memopt-opt: error: memgraph-model: align_io 24 is not one of: 8, 16, 32, 64
// CALLER: memopt-opt: error: memgraph-model: align_io is of inputs and outputs in the arena, not the caller's
// FUSE: memgraph-fuse: @main: inputs and outputs have lines of their own (align_io)
!t = tensor<1x5x5x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
!u = tensor<1x5x5x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
// CHECK: %x: {{.*}}memgraph.offset = 64 : i64}
// CHECK-SAME: #memgraph.model<target = host, alignment = 1, io = arena, views = on, inplace = off, scratch = none, align_io = 32>
// CHECK-SAME: peak = 100, {{.*}} arena = 100, arena_lower_bound = 100
// CHECK: memgraph.max_pool_2d {{.*}} memgraph.offset = [32 : i64]
// C: #define NET_ARENA_BYTES 100u
// C: #define NET_ARENA_ALIGNMENT 32u
// ROWS: align_io = 32>
// ROWS: memgraph.split_rows %x {memgraph.offset = [0 : i64, 5 : i64,
// OBJECTS: align_io = 32>{{.*}}kind = object
// BANKS: align_io = 32>{{.*}}kind = bank
func.func @main(%x: !t) -> !t {
  %a = memgraph.concat %x, %x axis 3 rounding<tflm_double> : (!t, !t) -> !u
  %b = memgraph.relu %a : (!u) -> !u
  %c, %d = memgraph.split %b axis 3 : (!u) -> (!t, !t)
  %y = memgraph.max_pool_2d %c window<[3, 3], pad = [1, 1, 1, 1]> : (!t) -> !t
  func.return %y : !t
}
