// Rows of a tensor that is seen through a view are what its producer has written, and stay until they are
// read: here they are overwritten, and --schedule=auto --place=auto has put them apart.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// expected-error@unknown {{p at [0, 16) overwrites v at [0, 16), which is live until step 2}}
!a0 = tensor<1x1x4x4xf32, #memgraph.encoding<nchw>>
!a1 = tensor<1x4x4x1xf32, #memgraph.encoding<nhwc>>
!a2 = tensor<1x1x4x1xf32, #memgraph.encoding<nhwc>>
func.func @main(%x: !a0 {memgraph.offset = 64 : i64}) -> !a1 attributes {memgraph.model = #memgraph.model<target = host, alignment = 4, io = arena, views = on, inplace = on, scratch = none>, memgraph.plan = #memgraph.plan<peak = 128, lower_bound = 128, proof = flow, family = rows, arena = 128, arena_lower_bound = 128, fingerprint = "5301e40212591eff693ee11c6077aa1e">} {
  %a = memgraph.logistic %x {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (!a0) -> !a0
  %p = memgraph.row_kernel (%v: !a1) attributes {memgraph.offset = [#memgraph.unplaced<runtime>]} {
    %p_1 = memgraph.max_pool_2d %v window<[3, 3], pad = [1, 1, 1, 1]> : (!a1) -> !a1
    memgraph.yield %p_1 : !a1
  }
  %v = memgraph.reshape %a {memgraph.offset = [0 : i64]} : (!a0) -> !a1
  %v_1, %v_2, %v_3, %v_4 = memgraph.split_rows %v {memgraph.offset = [0 : i64, 16 : i64, 32 : i64, 48 : i64]} : !a1
  %p_1 = memgraph.row %p[0] (%v_1, %v_2) {memgraph.order = 1 : i64, memgraph.offset = [0 : i64]} : (!a2, !a2) -> !a2
  %p_2 = memgraph.row %p[1] (%v_1, %v_2, %v_3) {memgraph.order = 2 : i64, memgraph.offset = [16 : i64]} : (!a2, !a2, !a2) -> !a2
  %p_3 = memgraph.row %p[2] (%v_2, %v_3, %v_4) {memgraph.order = 3 : i64, memgraph.offset = [32 : i64]} : (!a2, !a2, !a2) -> !a2
  %p_4 = memgraph.row %p[3] (%v_3, %v_4) {memgraph.order = 4 : i64, memgraph.offset = [48 : i64]} : (!a2, !a2) -> !a2
  %p_5 = memgraph.join %p_1, %p_2, %p_3, %p_4 {memgraph.offset = [0 : i64]} : !a1
  func.return %p_5 : !a1
}
