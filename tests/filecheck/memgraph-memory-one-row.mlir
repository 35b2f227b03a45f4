// A tensor of one row, whose bytes are no multiple of the alignment: a part of a tensor is not rounded up,
// whether there are others or not.
// RUN: memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-memory{banks=\"a:6@1,b:1K@2\"},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: not memopt-opt -p "memgraph-model{alignment=4 inplace=on},memgraph-expand-rows,memgraph-schedule,memgraph-memory{banks=\"a:4@1,b:5@2\"}" %s 2>&1 | filecheck %s --check-prefix=SMALL
// CHECK: #memgraph.memory<a, kind = bank, bytes = 6,
// CHECK: memgraph.join
// CHECK-SAME: #memgraph.slot<{{[ab]}}, 0>
// SMALL: error: the buffers do not fit into a 4 B + b 5 B, each row in one of them: {{.*}} B are missing
!t = tensor<1x1x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
func.func @main(%x: !t) -> !t {
  %y = memgraph.max_pool_2d %x window<[1, 3], pad = [0, 1, 0, 1]> : (!t) -> !t
  func.return %y : !t
}
