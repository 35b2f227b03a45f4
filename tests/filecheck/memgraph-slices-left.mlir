// Which slices would raise the least peak is found by halves.
// RUN: memopt-opt --model=alignment=1,inplace=on --rewrite=slice-as-view --schedule=auto %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-rewrite{rules=slice-as-view time-limit=0.000001},memgraph-schedule" %s | filecheck %s --check-prefix=LATE

// LATE: #memgraph.rewritten<"slice-as-view", sites = 0, left = 2, peak = [
!x = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!q = tensor<1x1x1x2xf32, #memgraph.encoding<nhwc>>

// The first slice would keep all of %r to the end, so it is copied.
// CHECK: func.func @small{{.*}}#memgraph.rewritten<"slice-as-view", sites = 1, left = 1, peak = [520, 520] proven>]
// CHECK-SAME: peak = 520, lower_bound = 520
func.func @small(%x: !x) -> !q {
  %r = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
  // CHECK: memgraph.slice %r starts [0, 0, 0, 0] strides [1, 1, 1, 1] {memgraph.order
  %s = memgraph.slice %r starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !q
  %p = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
  %q = memgraph.max_pool_2d %p window<[1, 1]> : (!x) -> !x
  // CHECK: memgraph.slice %q starts [0, 3, 3, 2] strides [1, 1, 1, 1] {memgraph.alias = {{.*}}kind = slice, byte_offset = 248>
  %e = memgraph.slice %q starts [0, 3, 3, 2] strides [1, 1, 1, 1] : (!x) -> !q
  %t = memgraph.add %s, %e : (!q, !q) -> !q
  func.return %t : !q
}
