// A slice is no copy: one stretch is a view, channels and columns are read where they are. Each where the least
// peak does not rise.
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-rewrite{rules=all},memgraph-schedule,memgraph-place{method=exact},memgraph-verify-plan{placed=true}" %s | filecheck %s
// RUN: memopt-opt -p "memgraph-model{alignment=1 inplace=on},memgraph-rewrite{rules=all},memgraph-schedule" %s | memopt-opt -p "memgraph-place{method=exact},memgraph-verify-plan{placed=true}" | filecheck %s
// RUN: memopt-opt --model=alignment=1,inplace=on --rewrite=all --stats=json %s 2>&1 >/dev/null | filecheck %s --check-prefix=STATS
// RUN: memopt-opt -p "memgraph-model{target=host},memgraph-rewrite{rules=slice-as-view},memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=C
// RUN: memopt-opt -p "memgraph-rewrite{rules=slice-by-readers},memgraph-model{target=host},memgraph-schedule,memgraph-place" -t c %s | filecheck %s --check-prefix=INLINED
// RUN: not memopt-opt -p "memgraph-rewrite{rules=slice-by-readers},memgraph-schedule,memgraph-memory{banks=a:1K,b:1K}" %s 2>&1 | filecheck %s --check-prefix=BANKS
// RUN: memopt-opt -p "memgraph-model{target=host},memgraph-rewrite{rules=slice-as-view},memgraph-expand-rows{rows=all},memgraph-schedule,memgraph-place,memgraph-verify-plan{placed=true}" %s | filecheck %s --check-prefix=ROWS

// STATS: "pass": "memgraph-rewrite", "function": "main", "operators": 4, "peak": 768
// STATS-SAME: "rewrites": [{"rule": "slice-as-view", "sites": 1, "left": 0, "weights_before": null, "weights_after": null, "macs_before": null, "macs_after": null, "peak_before": 768, "peak_after": 640, "peaks_proven": true}, {"rule": "slice-by-readers", "sites": 1, "left": 0,
// C: AVERAGE_POOL_2D z
// C-NEXT: PROFILE(0, 1u);
// C-NEXT: in[0] = arena + 128;
// INLINED: AVERAGE_POOL_2D u
// INLINED: memopt_inlined(
// BANKS: memgraph-memory: c is a virtual tensor, which is not modelled
// ROWS: family = rows
!x = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
!h = tensor<1x2x4x4xf32, #memgraph.encoding<nhwc>>
!c = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
// CHECK: memgraph.rewrites = [#memgraph.rewritten<"slice-as-view", sites = 1, peak = [768, 640] proven>, #memgraph.rewritten<"slice-by-readers", sites = 1, peak = [640, 640] proven>]
// CHECK-SAME: peak = 640, lower_bound = 640
func.func @main(%x: !x) -> (!h, !h, !c, !c) {
  // CHECK-DAG: memgraph.split %x axis 1 {{.*}}kind = slice>], [#memgraph.alias<operand = 0, kind = slice, byte_offset = 128>]]
  %a, %b = memgraph.split %x axis 1 {memgraph.names = ["a", "b"]} : (!x) -> (!h, !h)
  %y = memgraph.relu %a {memgraph.names = ["y"]} : (!h) -> !h
  %z = memgraph.average_pool_2d %b window<[1, 1]> {memgraph.names = ["z"]} : (!h) -> !h
  // CHECK-DAG: memgraph.split %x axis 3 {{.*}}[#memgraph.alias<operand = 0, kind = virtual>], [#memgraph.alias<operand = 0, kind = virtual>]{{.*}}[#memgraph.unplaced<virtual>, #memgraph.unplaced<virtual>]
  %c, %d = memgraph.split %x axis 3 {memgraph.names = ["c", "d"]} : (!x) -> (!c, !c)
  %u = memgraph.average_pool_2d %c window<[1, 1]> {memgraph.names = ["u"]} : (!c) -> !c
  %v = memgraph.relu %d {memgraph.names = ["v"]} : (!c) -> !c
  func.return %y, %z, %u, %v : !h, !h, !c, !c
}
