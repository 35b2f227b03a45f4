// What a virtual slice may claim; and its operand lives until it is read, whoever planned.
// RUN: memopt-opt --split-input-file --verify-diagnostics -p "memgraph-verify-plan{placed=true}" %s

// expected-error@unknown {{e at [0, 2) overwrites a at [0, 4), which is live until step 3}}
!a0 = tensor<1x1x2x2xi8, #memgraph.encoding<nhwc>>
!a1 = tensor<1x1x2x1xi8, #memgraph.encoding<nhwc>>
func.func @while_it_is_read(%x: !a0 {memgraph.offset = 4 : i64}) -> (!a1, !a1) attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 12, lower_bound = 8, proof = flow, family = order, arena = 12, arena_lower_bound = 8, fingerprint = "4cbc99dcf1ae369197d854ad8c54e501">} {
  %a = memgraph.max_pool_2d %x window<[1, 1]> {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (!a0) -> !a0
  %b = memgraph.max_pool_2d %x window<[1, 1]> {memgraph.order = 1 : i64, memgraph.offset = [8 : i64]} : (!a0) -> !a0
  %s = memgraph.slice %a starts [0, 0, 0, 1] strides [1, 1, 1, 1] {memgraph.names = ["s"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]], memgraph.offset = [#memgraph.unplaced<virtual>]} : (!a0) -> !a1
  %e = memgraph.max_pool_2d %s window<[1, 1]> {memgraph.order = 2 : i64, memgraph.offset = [0 : i64]} : (!a1) -> !a1
  %f = memgraph.max_pool_2d %s window<[1, 1]> {memgraph.order = 3 : i64, memgraph.offset = [6 : i64]} : (!a1) -> !a1
  func.return %e, %f : !a1, !a1
}
// -----
// expected-error@unknown {{f at [3, 5) overwrites a at [0, 4), which is live until step 3}}
!a0 = tensor<1x1x2x2xi8, #memgraph.encoding<nhwc>>
!a1 = tensor<1x1x2x1xi8, #memgraph.encoding<nhwc>>
func.func @until_the_last_reader(%x: !a0 {memgraph.offset = 4 : i64}) -> (!a1, !a1) attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 12, lower_bound = 8, proof = flow, family = order, arena = 12, arena_lower_bound = 8, fingerprint = "4cbc99dcf1ae369197d854ad8c54e501">} {
  %a = memgraph.max_pool_2d %x window<[1, 1]> {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (!a0) -> !a0
  %b = memgraph.max_pool_2d %x window<[1, 1]> {memgraph.order = 1 : i64, memgraph.offset = [8 : i64]} : (!a0) -> !a0
  %s = memgraph.slice %a starts [0, 0, 0, 1] strides [1, 1, 1, 1] {memgraph.names = ["s"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]], memgraph.offset = [#memgraph.unplaced<virtual>]} : (!a0) -> !a1
  %e = memgraph.max_pool_2d %s window<[1, 1]> {memgraph.order = 2 : i64, memgraph.offset = [4 : i64]} : (!a1) -> !a1
  %f = memgraph.max_pool_2d %s window<[1, 1]> {memgraph.order = 3 : i64, memgraph.offset = [3 : i64]} : (!a1) -> !a1
  func.return %e, %f : !a1, !a1
}
// -----
// expected-error@unknown {{s has an offset but is not in the arena}}
!a0 = tensor<1x1x2x2xi8, #memgraph.encoding<nhwc>>
!a1 = tensor<1x1x2x1xi8, #memgraph.encoding<nhwc>>
func.func @no_place(%x: !a0 {memgraph.offset = 4 : i64}) -> (!a1, !a1) attributes {memgraph.model = #memgraph.model<target = generic, alignment = 1, io = arena, views = on, inplace = off, scratch = none>, memgraph.plan = #memgraph.plan<peak = 12, lower_bound = 8, proof = flow, family = order, arena = 12, arena_lower_bound = 8, fingerprint = "4cbc99dcf1ae369197d854ad8c54e501">} {
  %a = memgraph.max_pool_2d %x window<[1, 1]> {memgraph.order = 0 : i64, memgraph.offset = [0 : i64]} : (!a0) -> !a0
  %b = memgraph.max_pool_2d %x window<[1, 1]> {memgraph.order = 1 : i64, memgraph.offset = [8 : i64]} : (!a0) -> !a0
  %s = memgraph.slice %a starts [0, 0, 0, 1] strides [1, 1, 1, 1] {memgraph.names = ["s"], memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]], memgraph.offset = [1 : i64]} : (!a0) -> !a1
  %e = memgraph.max_pool_2d %s window<[1, 1]> {memgraph.order = 2 : i64, memgraph.offset = [4 : i64]} : (!a1) -> !a1
  %f = memgraph.max_pool_2d %s window<[1, 1]> {memgraph.order = 3 : i64, memgraph.offset = [6 : i64]} : (!a1) -> !a1
  func.return %e, %f : !a1, !a1
}
